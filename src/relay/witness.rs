//! What is taken down of a call when it goes out: later it can no longer be seen.

use super::hooks::Named;
use super::{Action, Relay, log_contained};
use crate::behaviors::{Cx, WitnessHook};
use crate::call::Call;
use crate::contain::{Class, contain};
use std::collections::VecDeque;

/// How many snippets are remembered.
pub const REMEMBERED: usize = 50;

/// Something that was so when a call went out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The heartbeat of the Editor that the call was meant for announced a reload.
    Reloading {
        /// The Editor's hash.
        hash: String,
        /// The heartbeat's own time, in milliseconds since 1970 UTC.
        written_ms: i64,
    },
    /// The call carried a snippet in the proxy's wrapping.
    Snippet {
        /// The key that it was wrapped under.
        key: String,
        /// The beginning of the caller's own code: of the JSON string, its quote included.
        head: String,
    },
}

/// The callers' own code of the last [`REMEMBERED`] snippets that were wrapped: their beginnings, as in JSON.
#[derive(Debug, Default)]
pub struct Snippets {
    heads: VecDeque<(String, String)>,
}

impl Snippets {
    /// The beginning of the snippet that was wrapped under `key`.
    pub fn head(&self, key: &str) -> Option<&str> {
        let mut heads = self.heads.iter().rev();
        let (_, head) = heads.find(|(known, _)| known == key)?;
        Some(head)
    }

    fn remember(&mut self, key: String, head: String) {
        if self.heads.len() == REMEMBERED {
            self.heads.pop_front();
        }
        self.heads.push_back((key, head));
    }
}

/// What hooks take down of a call that is about to go out. One that fails costs what it would have seen and no more: the
/// call itself is in order.
pub(super) fn witness(
    hooks: &[Named<WitnessHook>],
    call: &Call<'_>,
    cx: &Cx<'_>,
    seen: &mut Vec<Seen>,
    out: &mut Vec<Action>,
) {
    for &(name, witness) in hooks {
        match contain(name, Class::Advisory, || Ok(witness(call, cx))) {
            Ok(more) => seen.extend(more),
            Err(failure) => out.push(log_contained(&failure)),
        }
    }
}

impl Relay {
    /// Keeps what is to outlive its call.
    pub(super) fn remember(&mut self, seen: &mut Vec<Seen>) {
        let outlives = |seen: &mut Seen| matches!(seen, Seen::Snippet { .. });
        for seen in seen.extract_if(.., outlives) {
            if let Seen::Snippet { key, head } = seen {
                self.snippets.remember(key, head);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_fifty_are_remembered() {
        let mut snippets = Snippets::default();
        for at in 0..=REMEMBERED {
            snippets.remember(format!("key {at}"), format!("head {at}"));
        }
        assert_eq!(snippets.head("key 0"), None);
        assert_eq!(snippets.head("key 1"), Some("head 1"));
        assert_eq!(snippets.head("key 50"), Some("head 50"));
        assert_eq!(snippets.head("key"), None);
    }
}
