//! When two spellings of a path are the same folder, by the rules of a platform.
//!
//! Pure: no file is looked at, and the platform is a parameter, so that the rules of each are tested on all. Links are
//! [`super::find`]'s and the caller's matter.

use crate::call::fold;
use unicode_normalization::UnicodeNormalization;

/// Whose rules are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Letter case does not count, `\` is `/`.
    Windows,
    /// Letter case counts, `\` is a letter of a name.
    Other,
}

impl Platform {
    /// The platform that this program was built for.
    pub const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else {
        Self::Other
    };
}

/// A path as Unity writes it: forward slashes, no slash at the end (`/` becomes empty, `C:/` becomes `C:`), no empty
/// or `.` steps, no `\\?\` ahead of it, a capital drive letter.
///
/// A path with a drive letter is read by the rules of Windows on every platform but for its letter case: the proxy may
/// run beside Windows (WSL, wine) and see its Editors' heartbeats.
pub fn slashed(path: &str, platform: Platform) -> String {
    let foreign = has_drive(path) || path.starts_with(r"\\");
    if platform == Platform::Other && !foreign {
        let lead = if path.starts_with('/') { "/" } else { "" };
        return format!("{lead}{}", steps(path))
            .trim_end_matches('/')
            .to_owned();
    }
    let path = path.replace('\\', "/");
    let bare = match path.strip_prefix("//?/").or(path.strip_prefix("//./")) {
        // `\\?\UNC\server\share` is `\\server\share`.
        Some(rest) => match rest.split_at_checked(4) {
            Some((unc, share)) if unc.eq_ignore_ascii_case("UNC/") => format!("//{share}"),
            _ => rest.to_owned(),
        },
        None => path,
    };
    let lead = ["//", "/"].into_iter().find(|lead| bare.starts_with(lead));
    let mut plain = format!("{}{}", lead.unwrap_or_default(), steps(&bare));
    if has_drive(&plain) {
        plain[..1].make_ascii_uppercase();
    }
    plain.trim_end_matches('/').to_owned()
}

fn steps(path: &str) -> String {
    let steps = path.split('/').filter(|step| !matches!(*step, "" | "."));
    steps.collect::<Vec<_>>().join("/")
}

/// Whether a path begins with a drive's letter, in any of its spellings.
pub fn has_drive(path: &str) -> bool {
    let path = path
        .strip_prefix(r"\\?\")
        .or(path.strip_prefix("//?/"))
        .unwrap_or(path);
    let bytes = path.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':')
}

/// The form that is compared: equal texts are the same folder. Besides [`slashed`], letters are decomposed (disks and
/// programs store `é` either as one letter or as two), and folded on Windows.
pub fn comparable(path: &str, platform: Platform) -> String {
    let path = slashed(path, platform);
    let path = if path.is_ascii() {
        path
    } else {
        path.nfd().collect()
    };
    match platform {
        Platform::Windows => fold(&path),
        Platform::Other => path,
    }
}

#[cfg(test)]
mod tests {
    use super::Platform::{Other, Windows};
    use super::*;

    fn same(a: &str, b: &str, platform: Platform) -> bool {
        comparable(a, platform) == comparable(b, platform)
    }

    #[test]
    fn on_windows_spellings_of_one_folder_are_equal() {
        for other in [
            r"C:\Unity\Alpha\Assets",
            "c:/unity/ALPHA/assets",
            "C:/Unity/Alpha/Assets/",
            r"C:\Unity\Alpha\Assets\\",
            r"\\?\C:\Unity\Alpha\Assets",
            r"\\?\c:\unity\alpha\assets\",
            "//?/C:/Unity/Alpha/Assets",
            r"\\.\C:\Unity\Alpha\Assets",
            "C://Unity/./Alpha//Assets/.",
        ] {
            assert!(same("C:/Unity/Alpha/Assets", other, Windows), "{other}");
        }
        for other in [
            "D:/Unity/Alpha/Assets",
            "C:/Unity/Alpha2/Assets",
            "C:/Unity/Alpha",
            "C:/Unity/Alpha/Assets/Assets",
            "/Unity/Alpha/Assets",
            "//C/Unity/Alpha/Assets",
            "C:/UnityAlpha/Assets",
        ] {
            assert!(!same("C:/Unity/Alpha/Assets", other, Windows), "{other}");
        }
    }

    #[test]
    fn shares_and_the_tops_of_drives_are_paths_too() {
        let share = "//server/share/Alpha";
        for other in [
            r"\\server\share\Alpha",
            r"\\?\UNC\Server\share\Alpha",
            r"\\?\unc\server\Share\alpha\",
        ] {
            assert!(same(share, other, Windows), "{other}");
        }
        assert!(!same(share, "/server/share/Alpha", Windows));
        assert!(same("C:/", "c:", Windows) && same(r"\\?\C:\", "C:/", Windows));
        assert!(same("/", "//", Other) && same("/", "", Other));
    }

    #[test]
    fn elsewhere_case_and_backslashes_count() {
        let path = "/home/me/Alpha/Assets";
        for other in ["/home/me/Alpha/Assets/", "//home/me/./Alpha//Assets"] {
            assert!(same(path, other, Other), "{other}");
        }
        for other in [
            "/home/me/alpha/Assets",
            "/home/me/Alpha/assets",
            r"\home\me\Alpha\Assets",
            r"/home/me\Alpha/Assets",
            "home/me/Alpha/Assets",
            "/home/me/Alpha",
        ] {
            assert!(!same(path, other, Other), "{other}");
        }
        // A drive is Windows' own, wherever it is read; its case is left as strict as all else here.
        assert!(same(r"c:\Unity\Alpha", "C:/Unity/Alpha/", Other));
        assert!(!same("C:/unity/Alpha", "C:/Unity/Alpha", Other));
    }

    #[test]
    fn letters_are_equal_in_either_normalization_form() {
        let (composed, decomposed) = (
            "/p/Zo\u{eb} \u{c4}pfel/\u{ac00}",
            "/p/Zoe\u{308} A\u{308}pfel/\u{1100}\u{1161}",
        );
        for platform in [Windows, Other] {
            assert!(same(composed, decomposed, platform));
            assert!(!same(composed, "/p/Zoe Apfel/\u{ac00}", platform));
            // Compatibility is not identity.
            assert!(!same("/p/\u{fb01}", "/p/fi", platform));
            assert!(!same("/p/日本", "/p/日木", platform));
        }
        assert!(same("C:/ZO\u{cb}", "c:/zoe\u{308}", Windows));
        assert!(!same("/p/ZO\u{cb}", "/p/zoe\u{308}", Other));
        // Marks in either order.
        assert!(same("/p/a\u{323}\u{302}", "/p/a\u{302}\u{323}", Other));
    }

    #[test]
    fn the_shown_form_is_unitys_own() {
        assert_eq!(slashed(r"\\?\d:\Ünity\Ärger\", Windows), "D:/Ünity/Ärger");
        assert_eq!(slashed("/home/me/a\\b/", Other), "/home/me/a\\b");
        assert_eq!(slashed("c:\\x", Other), "C:/x");
        assert_eq!(slashed("é", Other), "é");
        assert_eq!(slashed("", Windows), "");
    }
}
