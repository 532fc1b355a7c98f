//! The account as a person reads it.

use super::check::Verdict;
use super::scenes::Scene;
use super::stage::Side;
use super::{Account, Played};
use crate::commands::text::{clip, columns, wrap};
use crate::config::UPSTREAM_VERSION;
use crate::reply::META_KEY;
use serde_json::Value;

/// Columns of the account where nothing else is known.
const WIDTH: usize = 100;
/// The fewest and the most of them.
const WIDTHS: (usize, usize) = (60, 120);
/// Lines of a text that is too long: its beginning, and the part that the scene is about.
const SHOWN: (usize, usize) = (3, 2);

/// What the account is written on.
pub(super) struct Page {
    pub(super) width: usize,
}

impl Page {
    /// As wide as `COLUMNS` says, or else the terminal.
    pub(super) fn new() -> Self {
        let columns = std::env::var("COLUMNS").ok();
        let said = columns.and_then(|text| text.trim().parse().ok());
        let width = said.or_else(terminal).unwrap_or(WIDTH);
        Page {
            width: width.clamp(WIDTHS.0, WIDTHS.1),
        }
    }

    pub(super) fn opening(&self) -> String {
        self.paragraph(&format!(
            "What MCP for Unity tells an agent that is not so, and what becomes of the same call with the proxy. \
             Each call is made twice: to the server alone, and through the real relay, which is this program. The \
             server and its Editors are simulated; they do and say what was measured with mcpforunityserver \
             {UPSTREAM_VERSION}, without the waiting."
        )) + "\n"
    }

    pub(super) fn scene(&self, number: usize, scene: &Scene, played: &Played) -> String {
        let mut text = self.paragraph(&format!("{number}. {}", scene.title));
        if !scene.about.is_empty() {
            text.push_str(&self.paragraph(&format!("   {}", scene.about)));
        }
        for line in played.sent.iter().map(sent) {
            text.push_str(&format!("   > {}\n", clip(&line, self.width - 5)));
        }
        let head = |text: &str| vec![text.to_owned()];
        let with = format!("WITH IT: {}", scene.behavior);
        let column = self.column();
        text.push_str(&columns(&head("WITHOUT THE PROXY"), &head(&with), column));
        let both = |row: fn(&Self, &Side, &str) -> Vec<String>| {
            let last = |told: &'static [&'static str]| told.last().copied().unwrap_or_default();
            let left = row(self, &played.without, last(scene.without.told));
            let right = row(self, &played.with, last(scene.with.told));
            columns(&left, &right, column)
        };
        text.push_str(&both(Page::editor));
        text.push_str(&both(Page::told));
        for check in played.checks.iter().filter(|check| !check.holds) {
            text.push_str(&self.paragraph(&format!("NOT AS TOLD: {}", check.claim)));
        }
        text + "\n"
    }

    pub(super) fn closing(&self, account: &Account) -> String {
        let wrong = account
            .scenes
            .iter()
            .filter(|played| !played.went_as_told());
        let bad = wrong.count();
        let (all, seconds) = (account.scenes.len(), account.seconds);
        if bad > 0 {
            return self.paragraph(&format!("{bad} of {all} scenes did NOT go as told."));
        }
        self.paragraph(&format!(
            "All {all} scenes went as told, in {seconds:.1} s, and nothing stays behind."
        )) + &self.paragraph(
            "Next: the README's Install, `vrc-mcp-proxy behaviors` for all behaviours and their switches, and \
             `vrc-mcp-proxy demo --json` for every message of the above.",
        )
    }

    /// How wide each of the two columns is.
    fn column(&self) -> usize {
        (self.width - 3) / 2
    }

    fn paragraph(&self, text: &str) -> String {
        wrap(text, self.width).join("\n") + "\n"
    }

    fn editor(&self, side: &Side, _: &str) -> Vec<String> {
        let did = match side.editor.as_str() {
            "" => "gets nothing",
            did => did,
        };
        self.item(&format!("Editor: {did}"))
    }

    fn told(&self, side: &Side, from: &str) -> Vec<String> {
        let [.., message] = side.told.as_slice() else {
            return self.item("Agent: is told nothing");
        };
        let result = &message["result"];
        let blocks = result["content"].as_array();
        let mut blocks = blocks.into_iter().flatten();
        let first = blocks.next().and_then(|block| block["text"].as_str());
        let said = said(first.unwrap_or_default());
        let mut lines = self.shortened(
            &format!("Agent: {}{said}", verdict(&side.told, result)),
            from,
        );
        for note in blocks.filter_map(|block| block["text"].as_str()) {
            lines.extend(self.shortened(&format!("+ note: {note}"), from));
        }
        lines
    }

    /// The first lines, with a sign where more would follow.
    fn cut(&self, mut lines: Vec<String>, count: usize) -> Vec<String> {
        if lines.len() > count {
            lines.truncate(count);
            if let Some(last) = lines.last_mut() {
                if last.chars().count() + 2 > self.column() {
                    last.truncate(last.rfind(' ').unwrap_or_default());
                }
                last.push_str(" …");
            }
        }
        lines
    }

    /// A text in a column, indented where it goes on.
    fn item(&self, text: &str) -> Vec<String> {
        let lines = wrap(&text.replace('\n', " "), self.column() - 2).into_iter();
        let indent = |(at, line)| match at {
            0 => line,
            _ => format!("  {line}"),
        };
        lines.enumerate().map(indent).collect()
    }

    /// The same of a text that may be long: its beginning, and what begins with `from`.
    fn shortened(&self, text: &str, from: &str) -> Vec<String> {
        let (head, tail) = SHOWN;
        let at = text.find(from).unwrap_or_default();
        let (before, rest) = text.split_at(at);
        if at == 0 || self.item(before).len() <= head {
            return self.cut(self.item(text), head + tail);
        }
        let mut lines = self.cut(self.item(before), head);
        let rest = self.cut(self.item(rest), tail).into_iter();
        lines.extend(rest.map(|line| format!("  {}", line.trim_start())));
        lines
    }
}

/// The terminal's columns, where it is one and can be asked.
#[cfg(unix)]
fn terminal() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

#[cfg(not(unix))]
fn terminal() -> Option<usize> {
    None
}

/// A call in a line, or what happens instead.
fn sent(step: &Value) -> String {
    let Some(tool) = step["name"].as_str() else {
        return step.as_str().unwrap_or_default().to_owned();
    };
    let mut line = tool.to_owned();
    for (name, value) in step["arguments"].as_object().into_iter().flatten() {
        let value = match value.as_str() {
            Some(text) => text.replace('\n', " "),
            None => value.to_string(),
        };
        line.push_str(&format!("  {name}: {value}"));
    }
    line
}

fn verdict(told: &[Value], result: &Value) -> &'static str {
    let forwarded = &result["_meta"][META_KEY][0]["forwarded"];
    match Verdict::of(told) {
        Verdict::Failure if forwarded == false => "refused: ",
        Verdict::Failure => "failure: ",
        _ => "success: ",
    }
}

/// What a payload says; any other text as it is.
fn said(text: &str) -> String {
    let Ok(Value::Object(payload)) = serde_json::from_str(text) else {
        return text.to_owned();
    };
    let words = payload.get("error").or(payload.get("message"));
    let mut said = words.and_then(Value::as_str).unwrap_or_default().to_owned();
    let data = payload.get("data").unwrap_or(&Value::Null);
    if let Some(value) = data["result"].as_str() {
        said.push_str(&format!(" result: {value}"));
    }
    let found = data["assets"].as_array().into_iter().flatten();
    let found = found.map(|asset| &asset["path"]);
    let entries = data.as_array().into_iter().flatten();
    let listed: Vec<String> = found.chain(entries).map(Value::to_string).collect();
    if !listed.is_empty() {
        said.push_str(&format!(" {}", listed.join(", ")));
    }
    said
}
