//! Which server version is started, and with which committed baseline its tools are compared.

use super::{UPSTREAM, UPSTREAM_VERSION, VERSION};
use crate::baseline::committed_versions;

/// What the version of the server is named by in a command.
const REQUIREMENT: &str = "mcpforunityserver==";

/// What the environment comes to.
pub(super) struct Chosen {
    /// A version that a baseline is committed of.
    pub(super) version: &'static str,
    /// What is to be said about it.
    pub(super) problems: Vec<String>,
}

/// The version that a command names, such as `10.1.0` of `["uvx", "--from", "mcpforunityserver==10.1.0", …]`.
pub fn named_version(command: &[String]) -> Option<&str> {
    command.iter().find_map(|word| {
        let (_, rest) = word.split_once(REQUIREMENT)?;
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '+' | '-'));
        Some(&rest[..end.unwrap_or(rest.len())])
    })
}

/// The committed version that is meant: by the version that `command` names, since that is the server which runs; else
/// by `wanted`, the variable's value; else the pin.
pub(super) fn choose(wanted: Option<&str>, command: Option<&[String]>) -> Chosen {
    let wanted = wanted.map(str::trim).filter(|value| !value.is_empty());
    let mut problems = Vec::new();
    let chosen = wanted.and_then(committed);
    let version = chosen.unwrap_or(UPSTREAM_VERSION);
    if let Some(unknown) = wanted.filter(|_| chosen.is_none()) {
        problems.push(format!(
            "{VERSION}: no baseline is committed of {unknown:?} (there is one of {}); {version} is used",
            listed()
        ));
    }
    let Some(named) = command.and_then(named_version) else {
        return Chosen { version, problems };
    };
    let Some(of_command) = committed(named) else {
        problems.push(format!(
            "{UPSTREAM}: its command starts mcpforunityserver {named}, of which no baseline is committed (there is one \
             of {}); its tools are compared with the baseline of {version}",
            listed()
        ));
        return Chosen { version, problems };
    };
    if chosen.is_some_and(|chosen| chosen != of_command) {
        problems.push(format!(
            "{VERSION} says {version}, but the command of {UPSTREAM} starts mcpforunityserver {of_command}; its tools \
             are compared with the baseline of {of_command}"
        ));
    }
    Chosen {
        version: of_command,
        problems,
    }
}

fn committed(version: &str) -> Option<&'static str> {
    committed_versions().find(|known| *known == version)
}

fn listed() -> String {
    committed_versions().collect::<Vec<_>>().join(", ")
}

impl super::Config {
    /// The words of the command that starts the upstream.
    pub fn upstream_words(&self) -> Vec<String> {
        self.upstream.clone().unwrap_or_else(|| {
            let uvx = std::iter::once("uvx".to_owned());
            uvx.chain(crate::upstream::uvx_arguments(self.upstream_version))
                .collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(requirement: &str) -> Vec<String> {
        ["uvx", "--from", requirement, "mcp-for-unity"]
            .map(ToOwned::to_owned)
            .to_vec()
    }

    fn chosen(wanted: Option<&str>, requirement: Option<&str>) -> (&'static str, Vec<String>) {
        let command = requirement.map(command);
        let chosen = choose(wanted, command.as_deref());
        (chosen.version, chosen.problems)
    }

    #[test]
    fn the_pin_is_used_unless_a_committed_version_is_named() {
        let none = Vec::<String>::new();
        assert_eq!(chosen(None, None), (UPSTREAM_VERSION, none.clone()));
        assert_eq!(chosen(Some(" "), None), (UPSTREAM_VERSION, none.clone()));
        assert_eq!(chosen(Some(" 10.3.0 "), None), ("10.3.0", none.clone()));
        // A local checkout does not say its version: the variable does.
        assert_eq!(chosen(Some("10.2.0"), Some("server.py")), ("10.2.0", none));
    }

    #[test]
    fn an_unknown_version_is_told_with_those_that_are_known() {
        for bad in ["10.4.0", "10.3", "v10.3.0", "10.3.0,10.2.0", "latest"] {
            let (version, problems) = chosen(Some(bad), None);
            assert_eq!(version, UPSTREAM_VERSION);
            let [problem] = &problems[..] else {
                panic!("{problems:?}")
            };
            for word in [
                VERSION,
                bad,
                "10.1.0, 10.1.2, 10.2.0, 10.3.0",
                "10.1.0 is used",
            ] {
                assert!(problem.contains(word), "{word}: {problem}");
            }
        }
    }

    #[test]
    fn the_server_that_runs_decides_and_a_contradiction_is_told() {
        let none = Vec::<String>::new();
        let of = |version: &str| format!("mcpforunityserver=={version}");
        assert_eq!(chosen(None, Some(&of("10.3.0"))), ("10.3.0", none.clone()));
        assert_eq!(
            chosen(Some("10.3.0"), Some(&of("10.3.0"))),
            ("10.3.0", none)
        );

        let (version, problems) = chosen(Some("10.2.0"), Some(&of("10.3.0")));
        assert_eq!((version, problems.len()), ("10.3.0", 1));
        assert!(problems[0].contains("10.2.0") && problems[0].contains(VERSION));

        let (version, problems) = chosen(Some("10.2.0"), Some(&of("9.0.1")));
        assert_eq!((version, problems.len()), ("10.2.0", 1));
        assert!(problems[0].contains("9.0.1") && problems[0].contains(UPSTREAM));
        let (version, problems) = chosen(None, Some(&of("9.0.1")));
        assert_eq!((version, problems.len()), (UPSTREAM_VERSION, 1));
    }

    #[test]
    fn a_version_is_read_off_every_spelling_of_the_requirement() {
        for (word, version) in [
            ("mcpforunityserver==10.1.0", Some("10.1.0")),
            ("--from=mcpforunityserver==10.1.0", Some("10.1.0")),
            ("mcpforunityserver==10.2.0b1", Some("10.2.0b1")),
            (
                "mcpforunityserver==10.1.0;python_version>'3'",
                Some("10.1.0"),
            ),
            ("mcpforunityserver>=10.1.0", None),
            ("mcpforunityserver", None),
        ] {
            assert_eq!(named_version(&command(word)), version, "{word}");
        }
    }
}
