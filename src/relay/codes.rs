//! The codes of the core's own facts, which stand under the behaviour name [`super::RELAY`].

/// A behaviour failed while it looked at a call or an answer.
pub const CONTAINED_FAILURE: &str = "contained_failure";
/// The server is gone.
pub const UPSTREAM_ENDED: &str = "upstream_ended";
/// The server answered with damaged bytes.
pub const UNREADABLE_ANSWER: &str = "unreadable_answer";

/// Every code of the core, each with what it says.
pub const ALL: &[(&str, &str)] = &[
    (
        CONTAINED_FAILURE,
        "the proxy itself failed: the call was not forwarded, or its answer is withheld",
    ),
    (
        UPSTREAM_ENDED,
        "the server ended before it answered, or before the call was forwarded",
    ),
    (
        UNREADABLE_ANSWER,
        "the server's answer cannot be read; the work may have run",
    ),
];
