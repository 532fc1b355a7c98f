//! The processes of a server, seen by their number and not by their pipes: who has lost his launcher
//! and his pipes is what the tests look for.

use std::time::{Duration, Instant};

use super::home::Home;

/// The server's processes of a home, at a moment. Knows them on Linux only; elsewhere it is empty.
pub struct Tree {
    members: Vec<Member>,
}

struct Member {
    line: String,
    #[cfg(target_os = "linux")]
    process: rustix::fd::OwnedFd,
}

impl Tree {
    /// The processes that run now.
    pub fn of(home: &Home) -> Self {
        let members = home.server_processes().into_iter();
        Self {
            #[cfg(target_os = "linux")]
            members: members.filter_map(Member::watch).collect(),
            #[cfg(not(target_os = "linux"))]
            members: members.map(|(_, line)| Member { line }).collect(),
        }
    }

    /// Their command lines.
    pub fn lines(&self) -> Vec<&str> {
        self.members.iter().map(|member| &*member.line).collect()
    }

    /// Waits until all of them have ended, at most so long. Returns the command lines of those left.
    pub fn left_after(&self, limit: Duration) -> Vec<&str> {
        let until = Instant::now() + limit;
        let left = self.members.iter().filter(|member| !member.ends_by(until));
        left.map(|member| &*member.line).collect()
    }
}

#[cfg(target_os = "linux")]
impl Member {
    /// `None`: it has ended by now.
    fn watch((pid, line): (rustix::process::Pid, String)) -> Option<Self> {
        let process =
            rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()?;
        Some(Self { line, process })
    }

    fn ends_by(&self, until: Instant) -> bool {
        use rustix::event::{PollFd, PollFlags, poll};
        let mut ended = [PollFd::new(&self.process, PollFlags::IN)];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let left = rustix::event::Timespec::try_from(left).unwrap();
            match poll(&mut ended, Some(&left)) {
                Ok(count) => return count > 0,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => panic!("poll: {error}"),
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Member {
    fn ends_by(&self, _: Instant) -> bool {
        true
    }
}
