//! Waiting until something can go on.
//!
//! `poll` puts its caller in the line of each descriptor's waiters and takes it out again, every time. `epoll` does that
//! once for a set of descriptors, and the set is nearly always the one of the last wait.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::array::from_fn;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// What is waited for, in the order in which it is dealt with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    ToClient,
    ToChild,
    Child,
    Client,
    ChildStderr,
    Signals,
}

/// How many those are.
const SOURCES: usize = Source::Signals as usize + 1;

/// All of them.
const ALL: [Source; SOURCES] = [
    Source::ToClient,
    Source::ToChild,
    Source::Child,
    Source::Client,
    Source::ChildStderr,
    Source::Signals,
];

impl Source {
    #[inline(always)]
    fn bit(self) -> u64 {
        1 << self as u64
    }

    /// Whether room to write is waited for.
    fn writes(self) -> bool {
        matches!(self, Source::ToClient | Source::ToChild)
    }
}

/// The descriptors to wait for, by [`Source`].
pub(super) type Asked<'a> = [Option<BorrowedFd<'a>>; SOURCES];

/// The sources that can go on, a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ready(u64);

impl Ready {
    #[inline(always)]
    pub(super) fn has(self, source: Source) -> bool {
        self.0 & source.bit() != 0
    }
}

/// The longest wait at a time, within what every kernel's `epoll` takes: the caller looks at its limit and waits on.
const LONGEST: Duration = Duration::from_hours(24);

/// Waits, with what it needs for the next time.
#[derive(Default)]
pub(super) struct Waiter {
    #[cfg(target_os = "linux")]
    set: epoll::Set,
}

impl Waiter {
    /// What of `asked` can go on, after a wait of at most so long. An error counts as something: it shows in what is tried
    /// next. Nothing when a signal came in between, or when the kernel has no memory just now.
    #[inline(always)]
    pub(super) fn wait(&mut self, asked: &Asked<'_>, limit: Option<Duration>) -> Ready {
        let limit = limit.and_then(|limit| Timespec::try_from(limit.min(LONGEST)).ok());
        #[cfg(target_os = "linux")]
        if let Some(ready) = self.set.wait(asked, limit.as_ref()) {
            return ready;
        }
        by_poll(asked, limit.as_ref())
    }
}

#[cfg_attr(target_os = "linux", cold)]
fn by_poll(asked: &Asked<'_>, limit: Option<&Timespec>) -> Ready {
    let mut ready = Ready::default();
    let Some(&any) = asked.iter().flatten().next() else {
        let _nothing = poll(&mut [], limit);
        return ready;
    };
    let mut fds: [_; SOURCES] = from_fn(|_| PollFd::from_borrowed_fd(any, PollFlags::empty()));
    let mut which = ALL;
    let mut used = 0;
    for source in ALL {
        if let Some(fd) = asked[source as usize] {
            let what = if source.writes() {
                PollFlags::OUT
            } else {
                PollFlags::IN
            };
            (which[used], fds[used]) = (source, PollFd::from_borrowed_fd(fd, what));
            used += 1;
        }
    }
    if poll(&mut fds[..used], limit).is_ok() {
        for (source, fd) in which.iter().zip(&fds[..used]) {
            if !fd.revents().is_empty() {
                ready.0 |= source.bit();
            }
        }
    }
    ready
}

#[cfg(target_os = "linux")]
mod epoll {
    use super::{ALL, Asked, Ready, SOURCES, from_fn};
    use rustix::event::Timespec;
    use rustix::event::epoll::{CreateFlags, Event, EventData, EventFlags, add, create, wait};
    use rustix::io::Errno;
    use std::os::fd::{AsRawFd, OwnedFd, RawFd};

    /// The descriptors of the last wait, as the kernel knows them.
    #[derive(Default)]
    pub(super) struct Set {
        /// `None` when there is none for these: a file on disk, for one, cannot be waited for like that.
        pub(super) epoll: Option<OwnedFd>,
        of: Option<[RawFd; SOURCES]>,
    }

    impl Set {
        /// `None` when this set cannot be waited for here.
        #[inline(always)]
        pub(super) fn wait(
            &mut self,
            asked: &Asked<'_>,
            limit: Option<&Timespec>,
        ) -> Option<Ready> {
            let of = from_fn(|source| asked[source].map_or(-1, |fd| fd.as_raw_fd()));
            if self.of != Some(of) {
                self.renew(asked, of);
            }
            let epoll = self.epoll.as_ref()?;
            let nothing = Event {
                flags: EventFlags::empty(),
                data: EventData::new_u64(0),
            };
            let mut events = [nothing; SOURCES];
            let mut ready = Ready::default();
            let count = match wait(epoll, &mut events[..], limit) {
                Ok(count) => count,
                Err(Errno::INTR) => 0,
                // Where this is forbidden it stays so.
                Err(_) => {
                    self.epoll = None;
                    return None;
                }
            };
            for event in events.iter().take(count) {
                ready.0 |= event.data.u64();
            }
            Some(ready)
        }

        /// Makes a new set. Nothing is taken out of an old one: a descriptor that was closed here may be open elsewhere,
        /// and would stay in it.
        #[cold]
        #[inline(never)]
        fn renew(&mut self, asked: &Asked<'_>, of: [RawFd; SOURCES]) {
            let made = || {
                let epoll = create(CreateFlags::CLOEXEC)?;
                for source in ALL {
                    let what = if source.writes() {
                        EventFlags::OUT
                    } else {
                        EventFlags::IN
                    };
                    if let Some(fd) = asked[source as usize] {
                        add(&epoll, fd, EventData::new_u64(source.bit()), what)?;
                    }
                }
                rustix::io::Result::Ok(epoll)
            };
            self.of = Some(of);
            self.epoll = made().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{PipeWriter, Write, pipe};
    use std::os::fd::AsFd;

    const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

    /// What is ready of `asked`, by either way.
    fn ready_by(waiter: &mut Waiter, asked: &Asked<'_>) -> Ready {
        let ready = waiter.wait(asked, AT_ONCE);
        let zero = Timespec::try_from(Duration::ZERO).ok();
        assert_eq!(ready, by_poll(asked, zero.as_ref()));
        ready
    }

    /// A question about one source.
    fn only(source: Source, fd: &impl AsFd) -> Asked<'_> {
        let mut asked: Asked<'_> = Default::default();
        asked[source as usize] = Some(fd.as_fd());
        asked
    }

    fn fill(pipe: &mut PipeWriter) {
        rustix::io::ioctl_fionbio(&*pipe, true).unwrap();
        while pipe.write(&[0; 4096]).is_ok() {}
    }

    #[test]
    fn what_can_be_read_written_or_has_ended_is_ready() {
        let (child, mut to_child_end) = pipe().unwrap();
        let (client, client_end) = pipe().unwrap();
        let (_kept, mut full) = pipe().unwrap();
        let (_kept_too, empty) = pipe().unwrap();
        fill(&mut full);
        let asked = [
            Some(full.as_fd()),
            Some(empty.as_fd()),
            Some(child.as_fd()),
            Some(client.as_fd()),
            None,
            None,
        ];
        let mut waiter = Waiter::default();
        let mut are_ready = || {
            let ready = ready_by(&mut waiter, &asked);
            ALL.map(|source| ready.has(source))
        };
        assert_eq!(are_ready(), [false, true, false, false, false, false]);
        to_child_end.write_all(b"x").unwrap();
        for _ in 0..2 {
            assert_eq!(are_ready(), [false, true, true, false, false, false]);
        }
        drop(client_end);
        assert_eq!(are_ready(), [false, true, true, true, false, false]);
    }

    #[test]
    fn only_what_is_asked_about_is_ready() {
        let (one, mut one_end) = pipe().unwrap();
        let (other, mut other_end) = pipe().unwrap();
        for end in [&mut one_end, &mut other_end] {
            end.write_all(b"x").unwrap();
        }
        let mut waiter = Waiter::default();
        // Nothing at all, too.
        for (child, client) in [(true, true), (true, false), (false, false), (false, true)] {
            let mut asked: Asked<'_> = Default::default();
            asked[Source::Child as usize] = child.then(|| one.as_fd());
            asked[Source::Client as usize] = client.then(|| other.as_fd());
            let ready = ready_by(&mut waiter, &asked);
            assert_eq!(
                (ready.has(Source::Child), ready.has(Source::Client)),
                (child, client)
            );
        }
    }

    #[test]
    fn a_descriptor_that_was_closed_here_and_is_open_elsewhere_is_forgotten() {
        let (client, mut end) = pipe().unwrap();
        let _elsewhere = client.try_clone().unwrap();
        let (signals, _signals_end) = pipe().unwrap();
        end.write_all(b"x").unwrap();
        let asked = only(Source::Signals, &signals);
        let mut waiter = Waiter::default();
        {
            let mut both = asked;
            both[Source::Client as usize] = Some(client.as_fd());
            assert!(ready_by(&mut waiter, &both).has(Source::Client));
        }
        drop(client);
        assert_eq!(ready_by(&mut waiter, &asked), Ready::default());
    }

    #[test]
    fn a_file_on_disk_is_ready() {
        let file = File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
        let (child, mut end) = pipe().unwrap();
        let mut waiter = Waiter::default();
        let mut asked = only(Source::Child, &child);
        asked[Source::Client as usize] = Some(file.as_fd());
        assert!(ready_by(&mut waiter, &asked).has(Source::Client));
        // Without it, as with it before.
        asked[Source::Client as usize] = None;
        assert_eq!(ready_by(&mut waiter, &asked), Ready::default());
        end.write_all(b"x").unwrap();
        assert!(ready_by(&mut waiter, &asked).has(Source::Child));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn where_the_set_cannot_be_waited_for_it_is_done_without() {
        let (client, mut end) = pipe().unwrap();
        let asked = only(Source::Client, &client);
        let mut waiter = Waiter::default();
        assert_eq!(ready_by(&mut waiter, &asked), Ready::default());
        // No such set at all.
        waiter.set.epoll = Some(client.try_clone().unwrap().into());
        end.write_all(b"x").unwrap();
        assert!(ready_by(&mut waiter, &asked).has(Source::Client));
        assert!(waiter.set.epoll.is_none());
    }

    #[test]
    fn a_wait_ends_at_its_limit_and_with_what_comes() {
        let (client, mut end) = pipe().unwrap();
        let asked = only(Source::Client, &client);
        let mut waiter = Waiter::default();
        let soon = Duration::from_micros(1);
        assert_eq!(waiter.wait(&asked, Some(soon)), Ready::default());
        let writer = std::thread::spawn(move || end.write_all(b"x"));
        for limit in [None, Some(Duration::MAX)] {
            assert!(waiter.wait(&asked, limit).has(Source::Client));
        }
        writer.join().unwrap().unwrap();
    }
}
