//! Why a client's message is not forwarded.

use super::{
    INVALID_PARAMS, INVALID_REQUEST, Kind, MAX_DEPTH, MAX_INTEGER_DIGITS, Member, Message,
    Rejection,
};
use crate::wire::scan::Scanned;

/// Why upstream's parser would give up on the text, if it would.
pub(super) fn limit_fault(scanned: &Scanned) -> Option<(i32, &'static str)> {
    if scanned.depth > MAX_DEPTH {
        Some((INVALID_REQUEST, "the message nests deeper than 200"))
    } else if scanned.integer_digits > MAX_INTEGER_DIGITS {
        Some((INVALID_REQUEST, "an integer has more than 4300 digits"))
    } else if scanned.lone_surrogate {
        Some((INVALID_REQUEST, "a string holds a lone surrogate escape"))
    } else {
        None
    }
}

/// Why upstream would drop the message without an answer, if it would.
pub(super) fn envelope_fault(message: &Message<'_>) -> Option<(i32, &'static str)> {
    let has = |member| message.has(member);
    let text = |member| message.get(member).and_then(|raw| raw.as_str());
    let value = |member| message.get_bytes(member).map(|(value, _)| value);
    let is_version = value(Member::Version) == Some(b"\"2.0\"")
        || text(Member::Version).as_deref() == Some("2.0");
    let takes_params = |params: &[u8]| params.starts_with(b"{") || params == b"null";
    if !is_version {
        Some((INVALID_REQUEST, "`jsonrpc` must be \"2.0\""))
    } else if message.method.is_empty() && has(Member::Method) && text(Member::Method).is_none() {
        Some((INVALID_REQUEST, "`method` must be a string"))
    } else if has(Member::Id) && matches!(message.kind, Kind::Notification | Kind::Answer(None)) {
        Some((INVALID_REQUEST, "`id` must be a string or an integer"))
    } else if has(Member::Method) && has(Member::Error) {
        Some((
            INVALID_REQUEST,
            "a message has a method or an error, not both",
        ))
    } else if has(Member::Method)
        && value(Member::Params).is_some_and(|params| !takes_params(params))
    {
        let code = match &*message.method {
            "tools/call" => INVALID_PARAMS,
            // Upstream drops it without an answer.
            _ => INVALID_REQUEST,
        };
        Some((code, "`params` must be an object"))
    } else if !has(Member::Method)
        && !(has(Member::Id) && (has(Member::Result) || has(Member::Error)))
    {
        Some((
            INVALID_REQUEST,
            "the message is neither a request nor an answer",
        ))
    } else {
        None
    }
}

/// What becomes of a message with that fault.
pub(super) fn turn_away(message: &Message<'_>, code: i32, reason: &'static str) -> Rejection {
    let (id, answered) = match &message.kind {
        Kind::Request(id) => (Some(id.clone()), true),
        // A notification wants no answer. One with an unusable id was meant as a request.
        Kind::Notification => (None, message.has(Member::Id)),
        // An answer to the upstream must not be answered; an object that is none of the three is.
        Kind::Answer(id) => {
            let answers = message.has(Member::Result) || message.has(Member::Error);
            (id.clone(), !answers)
        }
    };
    Rejection {
        code,
        id,
        answered,
        reason,
    }
}
