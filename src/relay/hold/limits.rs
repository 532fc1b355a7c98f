//! Until when requests count as in flight.

use crate::relay::Now;
use std::collections::VecDeque;
use std::time::Duration;

/// When a request that upstream got counts no more, since the relay's start, and its place in the order of forwarding.
pub(in crate::relay) type Limit = (Duration, u64);

/// Limits in order. Most are put in at the end and taken out near an end, however many thousands are in flight.
#[derive(Default)]
pub(super) struct Limits(VecDeque<Limit>);

impl Limits {
    pub(super) fn insert(&mut self, limit: Limit) {
        if self.0.back().is_none_or(|last| *last < limit) {
            return self.0.push_back(limit);
        }
        let place = self.0.partition_point(|other| *other < limit);
        self.0.insert(place, limit);
    }

    pub(super) fn remove(&mut self, limit: &Limit) {
        if self.0.front() == Some(limit) {
            self.0.pop_front();
        } else if let Ok(place) = self.0.binary_search(limit) {
            self.0.remove(place);
        }
    }

    /// When the last of them counts no more.
    pub(super) fn last(&self) -> Option<Duration> {
        self.0.back().map(|(until, _)| *until)
    }

    /// Whether one of them still counts.
    pub(super) fn are_left(&self, now: Now) -> bool {
        self.last().is_some_and(|until| until > now.since_start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_that_is_left_decides() {
        let at = |seconds| Now {
            since_start: Duration::from_secs(seconds),
            ..Now::default()
        };
        let limit = |seconds, place| (Duration::from_secs(seconds), place);
        let mut limits = Limits::default();
        assert!(!limits.are_left(at(0)));
        for (seconds, place) in [(40, 0), (185, 1), (41, 2), (41, 3)] {
            limits.insert(limit(seconds, place));
        }
        assert!(limits.are_left(at(184)) && !limits.are_left(at(185)));
        limits.remove(&limit(185, 1));
        limits.remove(&limit(185, 1));
        limits.remove(&limit(41, 3));
        assert_eq!(limits.last(), Some(Duration::from_secs(41)));
        assert!(limits.are_left(at(40)) && !limits.are_left(at(41)));
    }
}
