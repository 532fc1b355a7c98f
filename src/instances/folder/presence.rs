//! Whether the heartbeat folder is there: each call asks, and on many machines no Editor has run yet.
//!
//! On Unix the answer "no" costs one look at the folder that would hold it: while that one has not changed, nothing
//! was made in it. To follow the path each time takes twice as long. Only on the root's own file system: what is open
//! on another one keeps it from being unmounted, and one on a network tells late of what others do.

#[cfg(unix)]
pub(super) use unix::Presence;

/// Where a folder is looked for by its path each time.
#[cfg(not(unix))]
#[derive(Debug, Default)]
pub(super) struct Presence;

#[cfg(not(unix))]
impl Presence {
    #[allow(clippy::unused_self, reason = "the other system's needs it")]
    pub(super) fn is_there(&self, folder: &std::path::Path) -> bool {
        folder.exists()
    }

    #[allow(clippy::unused_self, reason = "the other system's needs it")]
    pub(super) fn look_anew(&self) {}
}

#[cfg(unix)]
mod unix {
    use super::super::SETTLED;
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, fstat, openat, stat, statat};
    use rustix::io::Errno;
    use std::os::fd::OwnedFd;
    use std::path::Path;
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::time::{Duration, SystemTime};

    /// Knows for how long the folder's absence needs no new look.
    #[derive(Debug, Default)]
    pub(in super::super) struct Presence(Mutex<Known>);

    /// What was found since somebody last asked for a new look.
    #[derive(Debug, Default)]
    enum Known {
        #[default]
        Nothing,
        Absence(Absence),
        /// The path is followed each time. To find that out takes longer than to follow it, so it is done once.
        Path,
    }

    impl Presence {
        /// Whether `folder`, which is the same each time, leads to something.
        pub(in super::super) fn is_there(&self, folder: &Path) -> bool {
            let mut known = self.known();
            if let Known::Absence(absence) = &*known {
                if absence.lasts() {
                    return false;
                }
                *known = Known::Path;
            }
            let is_there = stat(folder).is_ok();
            if !is_there && matches!(*known, Known::Nothing) {
                let absence = Absence::of(folder, SystemTime::now(), Path::new("/"));
                *known = absence.map_or(Known::Path, Known::Absence);
            }
            is_there
        }

        /// The next look follows the path: a folder further up may have been replaced.
        pub(in super::super) fn look_anew(&self) {
            *self.known() = Known::Nothing;
        }

        fn known(&self) -> MutexGuard<'_, Known> {
            // Replaced whole, so a panic leaves nothing half done.
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    /// The folder that would hold one that is not there, open, and its state when that was seen.
    #[derive(Debug)]
    struct Absence {
        parent: OwnedFd,
        then: Stat,
    }

    impl Absence {
        /// `None` where the parent's state does not tell for certain: not there either, changed so short a time before
        /// `now` that the next change may get the same time, with a link by this name, which leads elsewhere, or on
        /// another file system than `root`.
        fn of(folder: &Path, now: SystemTime, root: &Path) -> Option<Self> {
            let (parent, name) = (folder.parent()?, folder.file_name()?);
            let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
            let parent = openat(CWD, parent, flags, Mode::empty()).ok()?;
            // Ahead of the look: what is made in between is seen by it, and what is made later changes the state.
            let then = fstat(&parent).ok()?;
            let seen = statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW);
            let changed = Duration::from_secs(then.st_ctime.try_into().ok()?);
            let age = now.duration_since(SystemTime::UNIX_EPOCH + changed).ok()?;
            // The part of a second that was cut off.
            let has_settled = age >= SETTLED + Duration::from_secs(1);
            let is_on_root = stat(root).ok()?.st_dev == then.st_dev;
            let is_certain = matches!(seen, Err(Errno::NOENT)) && has_settled && is_on_root;
            is_certain.then_some(Absence { parent, then })
        }

        fn lasts(&self) -> bool {
            fstat(&self.parent).is_ok_and(|now| state(&now) == state(&self.then))
        }
    }

    /// What another entry in a folder changes, or another folder in its place. The second time cannot be set by anybody.
    fn state(stat: &Stat) -> impl PartialEq + use<> {
        (
            (stat.st_dev, stat.st_ino),
            (stat.st_mtime, stat.st_mtime_nsec),
            (stat.st_ctime, stat.st_ctime_nsec),
        )
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::fs;
        use std::os::unix::fs::{MetadataExt, symlink};

        /// A time at which everything made today has settled.
        fn later() -> SystemTime {
            SystemTime::now() + 10 * SETTLED
        }

        /// As [`Absence::of`], whatever the file system of temporary files is.
        fn of(folder: &Path, now: SystemTime) -> Option<Absence> {
            Absence::of(folder, now, &std::env::temp_dir())
        }

        /// Returns when what is changed now gets another time than `folder` has.
        fn until_time_moves_on(folder: &Path) {
            let time = |path: &Path| {
                let metadata = fs::metadata(path).unwrap();
                (metadata.ctime(), metadata.ctime_nsec())
            };
            let other = tempfile::tempdir().unwrap();
            let mut at = 0;
            while time(other.path()) <= time(folder) {
                at += 1;
                fs::write(other.path().join(at.to_string()), "").unwrap();
            }
        }

        #[test]
        fn an_absence_lasts_until_something_is_made_there() {
            let parent = tempfile::tempdir().unwrap();
            let folder = parent.path().join("folder");
            let make: [&dyn Fn(); 5] = [
                &|| fs::create_dir(&folder).unwrap(),
                &|| symlink("elsewhere", &folder).unwrap(),
                &|| {
                    let other = parent.path().join("other");
                    fs::create_dir(&other).unwrap();
                    fs::rename(other, &folder).unwrap();
                },
                &|| fs::write(&folder, "").unwrap(),
                // It tells nothing of the folder, so somebody has to look again.
                &|| fs::write(parent.path().join("neighbour"), "").unwrap(),
            ];
            for (at, make) in make.into_iter().enumerate() {
                let absence = of(&folder, later()).expect("it is not there");
                assert!(absence.lasts() && absence.lasts(), "{at}");
                until_time_moves_on(parent.path());
                make();
                assert!(!absence.lasts(), "{at}");
                if let Ok(metadata) = fs::symlink_metadata(&folder) {
                    assert!(of(&folder, later()).is_none(), "{at}");
                    let remove = if metadata.is_dir() {
                        fs::remove_dir
                    } else {
                        fs::remove_file
                    };
                    remove(&folder).unwrap();
                }
            }
        }

        #[test]
        fn nothing_is_known_of_a_parent_that_has_just_changed_or_is_not_there() {
            let parent = tempfile::tempdir().unwrap();
            let folder = parent.path().join("folder");
            assert!(of(&folder, SystemTime::now()).is_none());
            assert!(of(&folder, SystemTime::UNIX_EPOCH).is_none());
            for unknown in [&folder.join("below"), Path::new("relative"), Path::new("/")] {
                assert!(of(unknown, later()).is_none(), "{unknown:?}");
            }
            assert!(of(&folder, later()).is_some());
            #[cfg(target_os = "linux")]
            assert!(Absence::of(&folder, later(), Path::new("/proc")).is_none());
        }

        /// One that knows already, of a folder whose parent has just been made.
        fn knowing(folder: &Path) -> Presence {
            let absence = of(folder, later()).expect("it is not there");
            Presence(Mutex::new(Known::Absence(absence)))
        }

        #[test]
        fn a_folder_that_comes_is_seen_and_one_that_goes() {
            let parent = tempfile::tempdir().unwrap();
            let folder = parent.path().join("folder");
            for presence in [knowing(&folder), Presence::default()] {
                assert!(!presence.is_there(&folder));
                until_time_moves_on(parent.path());
                for _ in 0..2 {
                    fs::create_dir(&folder).unwrap();
                    assert!(presence.is_there(&folder));
                    fs::remove_dir(&folder).unwrap();
                    assert!(!presence.is_there(&folder));
                }
                // Its parent has just changed.
                assert!(matches!(*presence.known(), Known::Path));
            }
        }

        #[test]
        fn a_new_look_follows_the_path() {
            let above = tempfile::tempdir().unwrap();
            let link = above.path().join("link");
            for name in ["before", "after/folder"] {
                fs::create_dir_all(above.path().join(name)).unwrap();
            }
            symlink("before", &link).unwrap();
            let folder = link.join("folder");
            let presence = knowing(&folder);
            fs::remove_file(&link).unwrap();
            symlink("after", &link).unwrap();
            assert!(!presence.is_there(&folder), "its parent was not touched");
            presence.look_anew();
            assert!(presence.is_there(&folder));
        }
    }
}
