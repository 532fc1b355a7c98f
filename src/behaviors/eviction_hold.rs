//! A request waits where upstream would look for Editors for it and so throw out the command in flight.
//!
//! Upstream looks for Editors by connecting to them, and the bridge serves one client: it drops the one that it has, in
//! the middle of its command, and upstream sends that command again (measured against 10.1.0: two to five times for a
//! call of 9 s with another beside it). Upstream serializes the commands to an Editor anyway, so nothing is lost by
//! waiting.

use super::{Behavior, Cx, Hook, Refusal};
use crate::call::Call;
use crate::relay::hold::{Passage, Traffic, Turn, UnityBound};
use std::time::Duration;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "eviction_hold",
    summary: "Lets a request wait that would make the server throw out the command in flight.",
    tool: None,
    hooks: &[Hook::Hold(rule)],
    codes: &[("too_many_wait", "no more requests can wait")],
};

/// Upstream keeps what it knows of the Editors for 5 s (10.1.0). A list of this age may be looked up anew by the time
/// upstream gets to a request ...
const AGED: Duration = Duration::from_secs(4);
/// ... and one of this age surely is.
const EXPIRED: Duration = Duration::from_millis(5500);

/// Upstream gives an `execute_code` or a read up after 36 s (10.1.0). A compiler that hangs must not block the
/// session.
const SHORT: Duration = Duration::from_secs(40);
/// Any other call: a wait for a refresh (60 s), one for a compilation (30 s) and the command itself (90 s).
const LONG: Duration = Duration::from_secs(185);

/// How many bytes may wait, or one longer request. A limit that stopped reading instead would keep back cancellations
/// and the answers to the server's own requests too.
const ROOM: usize = 8 << 20;

fn rule(request: UnityBound<'_>, traffic: &Traffic, cx: &Cx<'_>) -> Passage {
    let scanning = matches!(request, UnityBound::Call(call) if scans(call, cx));
    let older_than = |age| traffic.since_scan.is_none_or(|since| since >= age);
    let must_wait = traffic.in_flight
        && (scanning || traffic.scanning || traffic.waiting > 0 || older_than(AGED));
    Passage {
        turn: match must_wait {
            false => Turn::Now,
            true if traffic.waiting_bytes >= ROOM => Turn::Refuse(full(traffic)),
            true => Turn::Wait,
        },
        scanning,
        renews: scanning || older_than(EXPIRED),
        counts_for: match request {
            UnityBound::Call(call) if call.tool != "execute_code" => LONG,
            _ => SHORT,
        },
    }
}

/// Whether upstream looks for Editors because of the call itself.
fn scans(call: &Call<'_>, cx: &Cx<'_>) -> bool {
    // A bound call gets its instance when it goes out.
    call.tool == "set_active_instance" || cx.config.binding.is_some() || call.instance().is_some()
}

fn full(traffic: &Traffic) -> Refusal {
    let text = format!(
        "{} requests ({} MB) already wait for the one that the Editor is working on, and no more can wait. This one was \
         never forwarded, nothing ran. Send it again when some of those have been answered.",
        traffic.waiting,
        traffic.waiting_bytes >> 20
    );
    Refusal {
        code: "too_many_wait",
        text,
    }
}
