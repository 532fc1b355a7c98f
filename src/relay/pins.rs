//! The session's pin: which Editor upstream routes calls to that name none.

use super::inflight::InFlight;
use super::{Action, Now, Relay, log_contained};
use crate::contain::{Class, contain};
use crate::instances::Selector;
use crate::reply::Reply;

impl Relay {
    /// Takes note of what an answer to `set_active_instance` did to the pin.
    ///
    /// The raw value is committed before anything that can fail; what upstream resolved it to
    /// replaces it where that is known.
    pub(super) fn commit_pin(
        &mut self,
        call: &InFlight,
        reply: &Reply<'_>,
        now: Now,
        out: &mut Vec<Action>,
    ) {
        if call.tool != "set_active_instance" {
            return;
        }
        let requested = call
            .call()
            .and_then(|c| c.argument("instance").and_then(Selector::read));
        if reply.is_rpc_error() || reply.is_error() || reply.is_failure_payload() {
            self.pins.failed = requested.map(|selector| selector.text().to_owned());
            return;
        }
        self.pins.failed = None;
        if let Some(selector) = &requested {
            self.pins.pin = Some(selector.text().to_owned());
        }
        let resolved = contain("session_pin", Class::Advisory, || {
            Ok(self.resolved_pin(requested.as_ref(), reply, now))
        });
        match resolved {
            Ok(Some(pin)) => self.pins.pin = Some(pin),
            Ok(None) => {}
            Err(failure) => out.push(log_contained(&failure)),
        }
    }

    /// The pin as `Name@hash`: what upstream says it resolved, else the one heartbeat that fits.
    fn resolved_pin(
        &self,
        requested: Option<&Selector>,
        reply: &Reply<'_>,
        now: Now,
    ) -> Option<String> {
        let said = reply.data_str("instance").and_then(Selector::from_text);
        if let Some(said) = said.filter(Selector::is_identifier) {
            return Some(said.text().to_owned());
        }
        let cx = self.cx(now);
        let fitting = requested?.resolve_live_first(cx.editors(), now.unix_ms);
        Some(fitting.one()?.identifier())
    }
}
