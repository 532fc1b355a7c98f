//! A page of the docs: its links, anchors, code and commands.

use std::path::Path;

/// Programs whose command lines are collected.
const PROGRAMS: [&str; 14] = [
    "cargo",
    "bash",
    "vrc-mcp-proxy",
    "uvx",
    "uv",
    "pip",
    "winget",
    "brew",
    "apt-get",
    "npm",
    "claude",
    "codex",
    "rustup",
    "git",
];

/// The repository's folder.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file of the repository.
pub(crate) fn read(file: &str) -> String {
    let text = std::fs::read_to_string(root().join(file));
    let text = text.unwrap_or_else(|error| panic!("{file}: {error}"));
    text.replace("\r\n", "\n")
}

/// A page, with its path from the repository's folder.
pub(crate) struct Page {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Page {
    pub(crate) fn of(name: &str) -> Self {
        Page {
            name: name.to_owned(),
            text: read(name),
        }
    }

    /// The pages that users and maintainers read.
    pub(crate) fn all() -> Vec<Self> {
        let mut pages: Vec<Self> = ["README.md", "CHANGELOG.md", "tests/cases/README.md"]
            .map(Page::of)
            .into();
        let docs = std::fs::read_dir(root().join("docs")).unwrap();
        for entry in docs {
            let name = entry.unwrap().file_name().into_string().unwrap();
            pages.push(Page::of(&format!("docs/{name}")));
        }
        assert!(pages.len() > 6);
        pages
    }

    /// A path that is relative to this page, from the repository's folder.
    pub(crate) fn beside(&self, path: &str) -> String {
        let folder = self.name.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
        for part in path.split('/') {
            match part {
                ".." => drop(parts.pop()),
                "." => {}
                part => parts.push(part),
            }
        }
        parts.join("/")
    }

    /// The lines, each with whether it stands in a block of code. Indented blocks follow a blank line; inside a list
    /// they are indented by more.
    fn lines(&self) -> Vec<(&str, bool)> {
        let (mut fenced, mut indented, mut blank, mut list) = (false, false, true, 0);
        let mut lines = Vec::new();
        for line in self.text.lines() {
            let inner = line.trim_start();
            let indent = line.len() - inner.len();
            let was_blank = std::mem::replace(&mut blank, inner.is_empty());
            if inner.starts_with("```") {
                fenced = !fenced;
                continue;
            }
            if !fenced && !inner.is_empty() {
                indented = indent >= list + 4 && (indented || was_blank);
                if !indented {
                    list = item(inner)
                        .map_or(if indent == 0 { 0 } else { list }, |width| indent + width);
                }
            }
            lines.push((line, fenced || indented));
        }
        lines
    }

    /// What is not in a block of code, with its lines joined.
    fn prose(&self) -> String {
        let lines = self.lines().into_iter();
        let prose = lines.filter_map(|(line, is_code)| (!is_code).then_some(line.trim()));
        let paragraphs = prose.map(|line| if line.is_empty() { "\n" } else { line });
        paragraphs.collect::<Vec<_>>().join(" ")
    }

    /// The lines of the blocks of code. One that ends with a backslash goes on in the next.
    pub(crate) fn lines_of_code(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut goes_on = false;
        for (line, _) in self.lines().into_iter().filter(|(_, is_code)| *is_code) {
            let line = line.trim();
            let (line, more) = line
                .strip_suffix('\\')
                .map_or((line, false), |line| (line, true));
            match found.last_mut().filter(|_| goes_on) {
                Some(last) => last.push_str(line),
                None => found.push(line.to_owned()),
            }
            goes_on = more;
        }
        found
    }

    /// The spans of code in the prose.
    pub(crate) fn spans(&self) -> Vec<String> {
        let prose = self.prose();
        let spans = prose
            .split('\n')
            .flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
        spans.map(ToOwned::to_owned).collect()
    }

    /// The targets of the links in the prose.
    pub(crate) fn links(&self) -> Vec<String> {
        let prose = self.prose();
        let outside = prose.split('\n').map(|paragraph| {
            paragraph
                .split('`')
                .step_by(2)
                .collect::<Vec<_>>()
                .join("`")
        });
        let outside = outside.collect::<Vec<_>>().join("\n");
        let ends = outside.split("](").skip(1);
        ends.map(|end| end.split(')').next().unwrap_or_default().to_owned())
            .collect()
    }

    /// What links can name behind a `#`, as GitHub makes it of headings.
    pub(crate) fn anchors(&self) -> Vec<String> {
        let mut anchors: Vec<String> = Vec::new();
        for (line, is_code) in self.lines() {
            let heading = line.trim_start_matches('#');
            if is_code || heading.len() == line.len() || !heading.starts_with(' ') {
                continue;
            }
            let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
            let slug: String = heading.trim().to_lowercase().chars().filter(kept).collect();
            let slug = slug.replace(' ', "-");
            let numbered = |anchor: &&String| {
                let rest = anchor.strip_prefix(&slug);
                rest.is_some_and(|rest| rest.is_empty() || rest[1..].parse::<u8>().is_ok())
            };
            anchors.push(match anchors.iter().filter(numbered).count() {
                0 => slug,
                times => format!("{slug}-{times}"),
            });
        }
        anchors
    }

    /// The command lines that are shown: in blocks, and as spans of more than one word.
    pub(crate) fn commands(&self) -> Vec<String> {
        let blocks = self.lines_of_code().into_iter();
        let lines = blocks.map(|line| line.trim_start_matches("$ ").to_owned());
        let spans = self.spans().into_iter().filter(|span| span.contains(' '));
        lines.chain(spans).filter(|line| is_command(line)).collect()
    }
}

/// The width of a list item's mark.
fn item(line: &str) -> Option<usize> {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match line.len() - digits.len() {
        0 => line.starts_with("- ").then_some(2),
        number => digits.starts_with(". ").then_some(number + 2),
    }
}

/// Whether a line is a command of one of [`PROGRAMS`], with variables ahead of it or not.
fn is_command(line: &str) -> bool {
    let is_setting = |word: &&str| {
        let name = word.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| {
            name.chars()
                .all(|c| c.is_ascii_uppercase() || "_".contains(c))
        })
    };
    let first = line.split(' ').find(|word| !is_setting(word));
    first.is_some_and(|first| PROGRAMS.contains(&first))
}
