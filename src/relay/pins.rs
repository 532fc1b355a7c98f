//! The session's pin: which Editor upstream routes calls to that name none.

use super::inflight::{InFlight, State};
use super::{Now, Relay};
use crate::behaviors::Pins;
use crate::contain::{Class, Contained, contain};
use crate::instances::Selector;
use crate::reply::Reply;

impl Relay {
    /// Takes note of what an answer to `set_active_instance` did to the pin.
    ///
    /// The raw value is committed before anything that can fail; what upstream resolved it to
    /// replaces it where that is known.
    ///
    /// # Errors
    /// The failure that kept what upstream resolved from being found out. The raw value stands then,
    /// and upstream's own bytes are to go out.
    pub(super) fn commit_pin(
        &mut self,
        call: &InFlight,
        reply: &Reply<'_>,
        now: Now,
    ) -> Result<(), Contained> {
        if call.tool != "set_active_instance" {
            return Ok(());
        }
        let requested = call
            .call()
            .and_then(|c| c.argument("instance").and_then(Selector::read));
        let raw = requested
            .as_ref()
            .map(|selector| selector.text().to_owned());
        if reply.is_failure() {
            // "Request cancelled" says nothing of the selector.
            if call.state == State::Waiting || !reply.is_rpc_error() {
                self.pins.failed = raw;
            }
            return Ok(());
        }
        // A success that names no Editor has moved upstream's pin nobody knows where: no pin is then
        // the careful reading.
        self.pins = Pins {
            pin: raw,
            failed: None,
        };
        let resolved = contain("session_pin", Class::Advisory, || {
            Ok(self.resolved_pin(requested.as_ref(), reply, now))
        })?;
        if resolved.is_some() {
            self.pins.pin = resolved;
        }
        Ok(())
    }

    /// The pin as `Name@hash`: what upstream says it resolved, else the one heartbeat that fits.
    fn resolved_pin(
        &self,
        requested: Option<&Selector>,
        reply: &Reply<'_>,
        now: Now,
    ) -> Option<String> {
        let said = reply.data_str("instance").and_then(Selector::from_text);
        if let Some(said) = said.filter(|selector| is_whole(selector.text())) {
            return Some(said.text().to_owned());
        }
        let cx = self.cx(now);
        let fitting = requested?.resolve_live_first(cx.editors(), now.unix_ms);
        Some(fitting.one()?.identifier())
    }
}

/// Whether `text` is a `Name@hash` with both parts. A name may hold an `@` of its own.
fn is_whole(text: &str) -> bool {
    let parts = text.rsplit_once('@');
    parts.is_some_and(|(name, hash)| !name.is_empty() && !hash.is_empty())
}

#[cfg(test)]
mod tests;
