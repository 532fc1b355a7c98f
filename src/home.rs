//! The user's home folder.

use std::path::PathBuf;

/// The home folder: `HOME`, or what the system knows of the user (on Windows `USERPROFILE` first).
///
/// On Linux this looks into `/etc/passwd` by itself. The standard library's way would ask glibc, which then brings its
/// name services into the binary: a third of a statically linked program.
pub fn folder() -> Option<PathBuf> {
    #[cfg(target_os = "linux")]
    return std::env::var_os("HOME")
        .filter(|home| !home.is_empty())
        .map(PathBuf::from)
        .or_else(linux::of_user);
    #[cfg(not(target_os = "linux"))]
    #[allow(clippy::disallowed_methods, reason = "there is no other way here")]
    return std::env::home_dir();
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::process::getuid;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    use std::path::PathBuf;

    pub(super) fn of_user() -> Option<PathBuf> {
        let users = std::fs::read("/etc/passwd").ok()?;
        home_of(getuid().as_raw(), &users)
    }

    /// The sixth field of the line whose third is `user`.
    pub(super) fn home_of(user: u32, users: &[u8]) -> Option<PathBuf> {
        let number = user.to_string();
        let home = users.split(|&byte| byte == b'\n').find_map(|line| {
            let mut fields = line.split(|&byte| byte == b':');
            let is_user = fields.nth(2)? == number.as_bytes();
            fields.nth(2).filter(|home| is_user && !home.is_empty())
        })?;
        Some(OsString::from_vec(home.to_vec()).into())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::linux::home_of;
    use std::path::PathBuf;

    #[test]
    fn a_users_line_names_the_home() {
        let users = b"root:x:0:0:root:/root:/bin/sh\nbroken\nme:x:1000:1000:,,,:/home/me:/bin/sh\nno:x:7:7:::\n";
        assert_eq!(home_of(0, users), Some(PathBuf::from("/root")));
        assert_eq!(home_of(1000, users), Some(PathBuf::from("/home/me")));
        for nobody in [7, 100, 1] {
            assert_eq!(home_of(nobody, users), None);
        }
    }
}
