//! Which tools are exposed: the built-in list, what `VRC_MCP_PROXY_ALLOW` adds and what `VRC_MCP_PROXY_DENY` takes away.

use crate::baseline::{Baseline, committed};
use crate::config::{EXPOSED_TOOLS, nearest};
use std::collections::{BTreeSet, HashSet};

/// Tools given by names and patterns. In a pattern `*` stands for any text; letter case counts, as it does in the
/// server's names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tools {
    names: HashSet<String, foldhash::fast::RandomState>,
    patterns: Vec<String>,
}

impl Tools {
    /// Takes a name or pattern in.
    fn add(&mut self, entry: &str) {
        if entry.contains('*') {
            self.patterns.push(entry.to_owned());
        } else {
            self.names.insert(entry.to_owned());
        }
    }

    /// Whether the tool is among them.
    pub fn contains(&self, tool: &str) -> bool {
        self.entry_for(tool).is_some()
    }

    /// The entry that covers the tool.
    fn entry_for(&self, tool: &str) -> Option<&str> {
        let name = self.names.get(tool);
        let mut patterns = self.patterns.iter();
        let covering = name.or_else(|| patterns.find(|pattern| fits(pattern, tool)));
        covering.map(String::as_str)
    }
}

/// The tools that a session exposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    allowed: Tools,
    denied: Tools,
}

impl Default for Profile {
    fn default() -> Self {
        let mut allowed = Tools::default();
        EXPOSED_TOOLS.iter().for_each(|tool| allowed.add(tool));
        Profile {
            allowed,
            denied: Tools::default(),
        }
    }
}

impl Profile {
    /// Whether a tool is exposed. What is denied is not, whatever allows it.
    pub fn contains(&self, tool: &str) -> bool {
        self.allowed.contains(tool) && !self.denied.contains(tool)
    }

    /// The entry of `VRC_MCP_PROXY_DENY` that keeps a tool hidden.
    pub fn denied_by(&self, tool: &str) -> Option<&str> {
        self.denied.entry_for(tool)
    }

    /// Takes the values of the two variables in (names and patterns separated by commas or white space), and says what
    /// is odd about them: a line each, which begins with the variable's name.
    pub(crate) fn extend(
        &mut self,
        version: &str,
        allow: (&str, &str),
        deny: (&str, &str),
    ) -> Vec<String> {
        let known = known_tools(version);
        let mut lines = Vec::new();
        let (variable, value) = allow;
        for entry in entries(value) {
            self.allowed.add(entry);
            let covered = || known.iter().filter(|tool| fits(entry, tool));
            if covered().next().is_none() {
                let nearest = nearest(entry, known.iter().map(String::as_str));
                let what = if entry.contains('*') {
                    "fits no tool"
                } else {
                    "is no tool"
                };
                lines.push(format!(
                    "{variable}: {entry:?} {what} of mcpforunityserver {version}; it exposes one that the \
                     project adds by such a name{nearest}"
                ));
            }
            if entry.contains('*') && covered().any(|tool| tool == BATCH) {
                lines.push(format!(
                    "{variable}: {entry:?} also exposes {BATCH}, which carries other tools' calls past every guard; \
                     VRC_MCP_PROXY_DENY={BATCH} keeps it hidden"
                ));
            }
        }
        let (variable, value) = deny;
        for entry in entries(value) {
            let hides = |tool: &String| self.allowed.contains(tool) && fits(entry, tool);
            let hides = known.iter().any(hides) || self.allowed.contains(entry);
            self.denied.add(entry);
            if !hides {
                let exposed = known.iter().filter(|tool| self.allowed.contains(tool));
                let nearest = nearest(entry, exposed.map(String::as_str));
                let what = if entry.contains('*') {
                    "fits no exposed tool"
                } else {
                    "is not exposed"
                };
                lines.push(format!(
                    "{variable}: {entry:?} {what}, so it hides nothing{nearest}"
                ));
            }
        }
        // Whoever denies it has been told enough.
        lines.retain(|line| !line.contains("also exposes") || self.contains(BATCH));
        lines
    }
}

const BATCH: &str = "batch_execute";

/// The tools of the pinned server, sorted: those of its baseline, and those of the built-in list should that be broken.
pub fn known_tools(version: &str) -> BTreeSet<String> {
    let baseline = committed(version).and_then(|text| Baseline::parse(text).ok());
    let mut known: BTreeSet<String> = EXPOSED_TOOLS.iter().map(ToString::to_string).collect();
    if let Some(baseline) = &baseline {
        known.extend(baseline.tool_names().map(ToOwned::to_owned));
    }
    known
}

fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.split(|c: char| c == ',' || c.is_whitespace())
        .filter(|entry| !entry.is_empty())
}

/// Whether a name fits a pattern; one without a `*` fits itself alone.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut left) = name.strip_prefix(head) else {
        return false;
    };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    // Taking each part where it first stands leaves the most for those behind it.
    for part in middle.split('*') {
        match left.split_once(part) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    left.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text() {
        for (pattern, name) in [
            ("manage_*", "manage_scene"),
            ("manage_*", "manage_"),
            ("*", "anything"),
            ("*", ""),
            ("**", "x"),
            ("*_code", "execute_code"),
            ("*scene*", "manage_scene"),
            ("m*e*e", "manage_scene"),
            ("a*b*c", "abbc"),
            ("a*b*c", "abcbc"),
            ("*a*a", "aa"),
            ("é*", "éa"),
            ("x", "x"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("manage_*", "Manage_scene"),
            ("manage_*", "xmanage_scene"),
            ("manage_*", "manage"),
            ("*_code", "execute_codes"),
            ("a*a", "a"),
            ("*a*a", "a"),
            ("ab*ba", "aba"),
            ("a*b*c", "acb"),
            ("x", "xy"),
            ("", "x"),
        ] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }

    fn profile(allow: &str, deny: &str) -> (Profile, Vec<String>) {
        let mut profile = Profile::default();
        let lines = profile.extend(
            crate::config::UPSTREAM_VERSION,
            ("ALLOW", allow),
            ("DENY", deny),
        );
        (profile, lines)
    }

    #[test]
    fn patterns_allow_and_deny_and_denying_wins() {
        let (exposed, lines) = profile("manage_*", "manage_s*,*menu*");
        assert_eq!(lines, [""; 0]);
        for tool in [
            "manage_prefabs",
            "manage_editor",
            "execute_code",
            "manage_of_our_own",
        ] {
            assert!(exposed.contains(tool), "{tool}");
        }
        for tool in [
            "manage_scene",
            "manage_script",
            "execute_menu_item",
            "run_tests",
            "manage",
        ] {
            assert!(!exposed.contains(tool), "{tool}");
        }
        assert_eq!(exposed.denied_by("manage_scene"), Some("manage_s*"));
        assert_eq!(exposed.denied_by("run_tests"), None);
        let (nothing, lines) = profile("", "*");
        assert_eq!(lines, [""; 0]);
        assert!(!nothing.contains("execute_code"));
    }

    #[test]
    fn what_matches_nothing_is_reported_with_the_nearest_name() {
        for (allow, deny, parts) in [
            (
                "manage_scrpt",
                "",
                ["ALLOW: \"manage_scrpt\" is no tool", "\"manage_script\""],
            ),
            (
                "mange_*",
                "",
                ["ALLOW: \"mange_*\" fits no tool", "did you mean"],
            ),
            (
                "",
                "manage_editr",
                ["DENY: \"manage_editr\" is not exposed", "\"manage_editor\""],
            ),
            (
                "",
                "run_*",
                ["DENY: \"run_*\" fits no exposed tool", "hides nothing"],
            ),
            (
                "",
                "run_tests",
                ["DENY: \"run_tests\" is not exposed", "hides nothing"],
            ),
        ] {
            let (_, lines) = profile(allow, deny);
            let [line] = &lines[..] else {
                panic!("{lines:?}");
            };
            for part in parts {
                assert!(line.contains(part), "no {part:?} in {line}");
            }
        }
    }

    #[test]
    fn a_pattern_that_exposes_the_way_past_the_guards_says_so() {
        for allow in ["*", "batch*"] {
            let (exposed, lines) = profile(allow, "");
            assert!(exposed.contains(BATCH));
            assert!(
                matches!(&lines[..], [line] if line.contains("past every guard")),
                "{lines:?}"
            );
        }
        let (exposed, lines) = profile("*", BATCH);
        assert!(!exposed.contains(BATCH) && exposed.contains("run_tests"));
        assert_eq!(lines, [""; 0]);
        assert_eq!(profile(BATCH, "").1, [""; 0]);
    }
}
