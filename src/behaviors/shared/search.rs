//! Asset searches: which calls are one, and what their answers hold.

use crate::call::normalize;
use crate::relay::inflight::InFlight;
use crate::reply::Reply;
use serde_json::Value;

/// What a search found.
pub(in crate::behaviors) struct Results<'r> {
    /// Whether nothing at all was found, on any page.
    pub(in crate::behaviors) none: bool,
    /// The assets of the page that the answer shows.
    pub(in crate::behaviors) hits: &'r [Value],
}

/// Whether a call of `manage_asset` is a search.
pub(in crate::behaviors) fn is_search(call: &InFlight) -> bool {
    let action = call.action.as_deref();
    action.is_some_and(|action| normalize(action) == "search")
}

/// The results in an answer; `None` when it is a failure or has no integer `data.totalAssets`.
pub(in crate::behaviors) fn results<'r>(reply: &'r Reply<'_>) -> Option<Results<'r>> {
    if reply.is_failure_payload() {
        return None;
    }
    let data = reply.payload()?.get("data")?;
    let total = data.get("totalAssets")?;
    if !total.is_i64() && !total.is_u64() {
        return None;
    }
    let hits = data.get("assets").and_then(Value::as_array);
    Some(Results {
        none: total.as_u64() == Some(0),
        hits: hits.map(Vec::as_slice).unwrap_or_default(),
    })
}
