//! The pin of the upstream server, and the environment, read in one place.

use crate::behaviors::REGISTRY;
use crate::binding::{self, Binding};
use crate::profile::Profile;
use crate::safety::{Mode, SAFETY_MODES};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

mod version;

pub use version::named_version;

/// The version of `mcpforunityserver` that this build stands in front of, unless the environment selects another.
pub const UPSTREAM_VERSION: &str = "10.1.0";

/// Seconds an `execute_code` call may take unless the environment says otherwise.
pub const EXECUTE_TIMEOUT_S: f64 = 120.0;

/// The tools that are exposed unless the environment says otherwise.
pub const EXPOSED_TOOLS: [&str; 13] = [
    "execute_code",
    "refresh_unity",
    "set_active_instance",
    "manage_scene",
    "manage_editor",
    "manage_asset",
    "manage_packages",
    "unity_reflect",
    "find_gameobjects",
    "execute_menu_item",
    "manage_camera",
    "manage_gameobject",
    "debug_request_context",
];

const DISABLE: &str = "VRC_MCP_PROXY_DISABLE";
const ALLOW: &str = "VRC_MCP_PROXY_ALLOW";
const DENY: &str = "VRC_MCP_PROXY_DENY";
const EXECUTE_TIMEOUT: &str = "VRC_MCP_PROXY_EXECUTE_TIMEOUT_S";
const UPSTREAM: &str = "VRC_MCP_PROXY_UPSTREAM";
const VERSION: &str = "VRC_MCP_PROXY_UPSTREAM_VERSION";
const MODE: &str = "VRC_MCP_PROXY_MODE";
const LOG: &str = "VRC_MCP_PROXY_LOG";

/// The variables of this program, each with what it does.
pub const VARIABLES: [(&str, &str); 11] = [
    (
        DISABLE,
        "behaviours to switch off: names separated by commas or spaces",
    ),
    (
        ALLOW,
        "tools to expose beyond the built-in list: names, or patterns such as manage_*",
    ),
    (DENY, "tools to hide, likewise; wins"),
    (
        binding::VARIABLE,
        "the Unity project that all calls are meant for: its root, or auto for the one around the working directory",
    ),
    (
        EXECUTE_TIMEOUT,
        "seconds an execute_code call may take (default 120)",
    ),
    (UPSTREAM, "the upstream command, a JSON array of strings"),
    (
        VERSION,
        "another server version whose baseline is committed (default: the pinned one)",
    ),
    (
        MODE,
        "how much a session may do: full (the default), read_only, or confirm",
    ),
    (LOG, "what goes to stderr, a tracing filter (default info)"),
    (
        "UNITY_MCP_STATUS_DIR",
        "the folder of the Editors' heartbeat files (default ~/.unity-mcp)",
    ),
    (
        "UNITY_MCP_DEFAULT_INSTANCE",
        "the Editor that calls without a pin are meant for, as upstream reads it",
    ),
];

/// Everything the environment says, with defaults filled in.
#[derive(Clone, Debug)]
pub struct Config {
    /// Names of behaviours that are switched off.
    pub disabled: BTreeSet<&'static str>,
    /// Tools that are exposed.
    pub exposed: Profile,
    /// The project to bind to, as the environment names it.
    pub project: Option<OsString>,
    /// The project that calls are bound to, once [`Config::bind`] has looked for it; `None` when they are not.
    pub binding: Option<Binding>,
    /// How long an `execute_code` call may take.
    pub execute_timeout: Duration,
    /// The upstream command; `None` for the pinned server through uvx.
    pub upstream: Option<Vec<String>>,
    /// The server version: what uvx starts when `upstream` is `None`, and whose baseline the tools are compared with.
    pub upstream_version: &'static str,
    /// How much the session may do.
    pub mode: Mode,
    /// The filter for the log.
    pub log: String,
    /// The heartbeat folder as the environment names it.
    pub status_dir: Option<OsString>,
    /// Upstream's default Editor.
    pub default_instance: Option<String>,
    /// What was wrong with the environment: a line each, for stderr.
    pub problems: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            disabled: BTreeSet::new(),
            exposed: Profile::default(),
            project: None,
            binding: None,
            execute_timeout: Duration::from_secs_f64(EXECUTE_TIMEOUT_S),
            upstream: None,
            upstream_version: UPSTREAM_VERSION,
            mode: Mode::default(),
            log: "info".to_owned(),
            status_dir: None,
            default_instance: None,
            problems: Vec::new(),
        }
    }
}

impl Config {
    /// Reads the environment's `variables`. Never fails: a bad value leaves the default and a line in
    /// [`Config::problems`].
    pub fn from_env(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Config {
        let mut config = Config::default();
        let (mut allow, mut deny) = (String::new(), String::new());
        let (mut command, mut version) = (None, None);
        for (name, raw) in variables {
            let (mut name, value) = (name.to_string_lossy(), raw.to_string_lossy().into_owned());
            if cfg!(windows) {
                // Names are the same in any case there, and come as they were first spelled.
                name.to_mut().make_ascii_uppercase();
            }
            match &*name {
                DISABLE => config.disable(&value),
                ALLOW => allow = value,
                DENY => deny = value,
                binding::VARIABLE => config.project = Some(raw),
                EXECUTE_TIMEOUT => config.timeout(&value),
                UPSTREAM => command = Some(value),
                VERSION => version = Some(value),
                MODE => config.safety_mode(&value),
                LOG => config.log_filter(&value),
                "UNITY_MCP_STATUS_DIR" if !value.trim().is_empty() => {
                    config.status_dir = Some(raw);
                }
                "UNITY_MCP_DEFAULT_INSTANCE" if !value.trim().is_empty() => {
                    config.default_instance = Some(value);
                }
                _ => config.unknown_variable(&name),
            }
        }
        config.server(command.as_deref(), version.as_deref());
        if config.mode != Mode::Full && config.disabled.contains(SAFETY_MODES) {
            config.problem(format!(
                "{MODE}: the mode {} has no effect, because {DISABLE} names {SAFETY_MODES}",
                config.mode.name()
            ));
        }
        if !(allow.is_empty() && deny.is_empty()) {
            let version = config.upstream_version;
            let odd = config
                .exposed
                .extend(version, (ALLOW, &allow), (DENY, &deny));
            config.problems.extend(odd);
        }
        config
    }

    /// The folder of the Editors' heartbeat files; `None` when there is no home folder either. On Windows home is
    /// `%USERPROFILE%` where that is set: the server's Python (10.1.0) goes by it too.
    pub fn status_folder(&self) -> Option<std::path::PathBuf> {
        let variable = self.status_dir.as_deref();
        crate::instances::status_folder(variable, crate::home::folder().as_deref())
    }

    /// Looks for the project that `VRC_MCP_PROXY_PROJECT` names, from the working directory, unless the behaviour is
    /// switched off. What is odd about it is a line in [`Config::problems`].
    pub fn bind(&mut self) {
        let off = self.disabled.contains("project_binding");
        let Some(value) = self.project.as_ref().filter(|_| !off) else {
            return;
        };
        let folder = std::env::current_dir().unwrap_or_default();
        let found = binding::find::find(value, &folder, crate::home::folder().as_deref());
        self.binding = found.binding;
        self.problems.extend(found.line);
    }

    /// What is wrong with the folder that `UNITY_MCP_STATUS_DIR` names: a line for stderr. One that is not there yet
    /// is in order, the Editor makes it.
    pub fn status_folder_problem(&self) -> Option<String> {
        let named = std::path::Path::new(self.status_dir.as_ref()?);
        (named.exists() && !named.is_dir()).then(|| {
            format!("UNITY_MCP_STATUS_DIR: {named:?} is no folder, so no heartbeats are read")
        })
    }

    fn disable(&mut self, value: &str) {
        for name in names(value) {
            match REGISTRY.iter().find(|behavior| behavior.name == name) {
                Some(behavior) => {
                    self.disabled.insert(behavior.name);
                }
                None => {
                    let known = REGISTRY.iter().map(|behavior| behavior.name);
                    self.problem(format!(
                        "{DISABLE}: there is no behaviour {name:?}, so nothing is switched off by it{}",
                        nearest(name, known)
                    ));
                }
            }
        }
    }

    fn timeout(&mut self, value: &str) {
        // Beyond this many seconds (about 3 million years) clocks overflow.
        const LONGEST_S: f64 = 1e14;
        match value.trim().parse::<f64>() {
            Ok(seconds) if seconds > 0.0 && seconds <= LONGEST_S => {
                self.execute_timeout = Duration::from_secs_f64(seconds);
            }
            _ => self.problem(format!(
                "{EXECUTE_TIMEOUT}: {value:?} is no plain number of seconds above 0, such as 180; {EXECUTE_TIMEOUT_S} \
                 is used"
            )),
        }
        if self.execute_timeout.is_zero() {
            self.execute_timeout = Duration::from_nanos(1);
        }
    }

    fn server(&mut self, command: Option<&str>, version: Option<&str>) {
        let words = command.map(serde_json::from_str::<Vec<String>>);
        let words = words.and_then(Result::ok);
        self.upstream =
            words.filter(|words| !words.iter().take(1).all(|word| word.trim().is_empty()));
        let chosen = version::choose(version, self.upstream.as_deref());
        self.upstream_version = chosen.version;
        if let Some(value) = command.filter(|_| self.upstream.is_none()) {
            self.problem(format!(
                "{UPSTREAM}: {value:?} is no JSON array of strings that begins with a program, such as \
                 [\"C:/Tools/uvx.exe\", \"...\"] (write / or \\\\ in paths); mcpforunityserver {} through uvx is used",
                chosen.version
            ));
        }
        self.problems.extend(chosen.problems);
    }

    fn safety_mode(&mut self, value: &str) {
        if value.trim().is_empty() {
            return;
        }
        self.mode = Mode::parse(value).unwrap_or_else(|| {
            let known = Mode::NAMES.map(|(name, _)| name);
            self.problem(format!(
                "{MODE}: there is no mode {value:?} (there are {}); read_only is used, the safe side",
                known.join(", ")
            ));
            Mode::ReadOnly
        });
    }

    fn log_filter(&mut self, value: &str) {
        let value = value.trim();
        if value.is_empty() {
            return;
        }
        match value.parse::<tracing_subscriber::filter::Targets>() {
            Ok(filter) if speaks_of_us(&filter) => value.clone_into(&mut self.log),
            // A misspelled level is a target to the parser, and would silence everything.
            Ok(_) => self.problem(format!(
                "{LOG}: {value:?} names no level and no part of vrc_mcp_proxy; {:?} is used",
                self.log
            )),
            Err(error) => self.problem(format!(
                "{LOG}: {value:?} is no tracing filter ({error}); {:?} is used",
                self.log
            )),
        }
    }

    fn unknown_variable(&mut self, name: &str) {
        const PREFIX: &str = "VRC_MCP_PROXY_";
        let of_tests = ["REQUIRE_REAL", "WINE", "WINDOWS_CACHE"];
        if let Some(rest) = name.strip_prefix(PREFIX)
            && !of_tests.contains(&rest)
        {
            let known = VARIABLES.iter().map(|(known, _)| *known);
            self.problem(format!(
                "{name} is not known to this version, so it has no effect{}",
                nearest(name, known.filter(|known| known.starts_with(PREFIX)))
            ));
        }
    }

    fn problem(&mut self, line: String) {
        self.problems.push(line);
    }
}

fn speaks_of_us(filter: &tracing_subscriber::filter::Targets) -> bool {
    let ours = |(target, _): (&str, _)| target.starts_with("vrc_mcp_proxy");
    filter.default_level().is_some() || filter.iter().any(ours)
}

fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(|c: char| c == ',' || c.is_whitespace())
        .filter(|name| !name.is_empty())
}

/// `; did you mean "…"?` with the most similar of `known`, whether similar or not.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let similarity = |known: &&str| strsim::jaro_winkler(name, known);
    let best = known
        .into_iter()
        // A longer one resembles none, and takes its time to be compared.
        .filter(|_| name.len() <= 200)
        .max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    best.map_or_else(String::new, |best| format!("; did you mean {best:?}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(name: &str, value: &str) -> Config {
        Config::from_env([(name.into(), value.into())])
    }

    #[test]
    fn a_log_filter_that_would_silence_everything_by_mistake_is_reported() {
        for bad in [
            "verbose",
            "inof",
            "[",
            "é",
            "other=debug",
            "bogus=",
            "=loud=",
        ] {
            let config = config(LOG, bad);
            assert_eq!(config.log, "info", "{bad}");
            let [problem] = &config.problems[..] else {
                panic!("{bad}: {:?}", config.problems);
            };
            assert!(problem.contains(LOG) && problem.contains(bad), "{problem}");
        }
        for good in [
            "off",
            "WARN",
            " debug ",
            "5",
            "info,other=trace",
            "vrc_mcp_proxy=debug",
            "vrc_mcp_proxy::relay=trace",
        ] {
            let config = config(LOG, good);
            assert_eq!(config.log, good.trim());
            assert!(config.problems.is_empty(), "{:?}", config.problems);
        }
        assert_eq!(config(LOG, " ").log, "info");
    }

    #[test]
    fn a_heartbeat_folder_that_is_a_file_is_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        std::fs::write(&file, "").expect("a file");
        let problem = |path: &std::path::Path| {
            let path = path.to_str().expect("UTF-8");
            config("UNITY_MCP_STATUS_DIR", path).status_folder_problem()
        };
        assert!(problem(&file).is_some_and(|text| text.contains("UNITY_MCP_STATUS_DIR")));
        assert_eq!(problem(folder.path()), None);
        assert_eq!(problem(&folder.path().join("not yet")), None);
        assert_eq!(Config::default().status_folder_problem(), None);
    }
}
