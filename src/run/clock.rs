//! The system's time, asked for at most ten times a second.

use std::time::{Duration, SystemTime};

/// For so long the system's time is taken to go on evenly, and the heartbeats' folder to lie where it did: what is compared
/// with that time is seconds old, and to ask for two times costs twice.
const KEPT: Duration = Duration::from_millis(100);

/// The system's time at a moment.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    /// Since the relay's start.
    at: Duration,
    /// Since 1970 UTC, with all of its digits: of what was cut to milliseconds twice, the sum lies up to two of them
    /// before the time, and a heartbeat would be a second younger than it is.
    unix: Duration,
}

impl Clock {
    /// What the system says now, so long after the relay's start.
    pub(super) fn read(since_start: Duration) -> Self {
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Clock {
            at: since_start,
            unix: unix.unwrap_or_default(),
        }
    }

    /// Whether this clock may still be asked.
    pub(super) fn holds(&self, since_start: Duration) -> bool {
        self.age(since_start) < KEPT
    }

    /// Whole milliseconds since 1970 UTC, rounded down.
    pub(super) fn unix_ms(&self, since_start: Duration) -> i64 {
        let unix = self.unix.saturating_add(self.age(since_start));
        i64::try_from(unix.as_millis()).unwrap_or(i64::MAX)
    }

    fn age(&self, since_start: Duration) -> Duration {
        since_start.saturating_sub(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_time_is_as_exact_as_one_that_is_asked_for() {
        let start = Duration::new(1_700_000_000, 0);
        let micros = |count: u64| Duration::from_micros(count);
        for (read, asked) in [(0, 0), (999, 1_001), (1_999, 2_998), (900, 99_950)] {
            let clock = Clock {
                at: micros(read),
                unix: start + micros(read),
            };
            let wanted = (start + micros(asked)).as_millis();
            assert_eq!(
                i128::from(clock.unix_ms(micros(asked))),
                wanted.cast_signed()
            );
            assert!(clock.holds(micros(asked)), "{read} {asked}");
        }
    }

    #[test]
    fn a_time_is_not_kept_for_long() {
        let clock = Clock::read(Duration::from_secs(5));
        assert!(clock.holds(Duration::from_millis(5_099)));
        assert!(!clock.holds(Duration::from_millis(5_100)));
    }
}
