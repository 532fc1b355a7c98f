//! How long requests count as in flight.

use std::collections::BTreeMap;
use std::time::Duration;

/// Moments since the relay's start, each with how often it stands here.
#[derive(Default)]
pub(super) struct Limits(BTreeMap<Duration, usize>);

impl Limits {
    pub(super) fn add(&mut self, at: Duration) {
        *self.0.entry(at).or_default() += 1;
    }

    pub(super) fn remove(&mut self, at: Duration) {
        if let Some(count) = self.0.get_mut(&at) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&at);
            }
        }
    }

    pub(super) fn last(&self) -> Option<Duration> {
        self.0.last_key_value().map(|(at, _)| *at)
    }
}
