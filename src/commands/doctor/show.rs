//! The report as a person reads it, and as JSON.

use super::finding::{Finding, Report, Section, Severity, count};
use serde_json::{Value, json};
use std::io::IsTerminal;

/// Whether stdout takes colours: a terminal that nobody asked to go without (<https://no-color.org>).
pub(super) fn colours() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    // The old console window of Windows prints the codes as they are.
    let knows = !cfg!(windows) || set("WT_SESSION").is_some() || set("TERM").is_some();
    let dumb = set("TERM").is_some_and(|terminal| terminal == "dumb");
    std::io::stdout().is_terminal() && set("NO_COLOR").is_none() && !dumb && knows
}

/// The whole report as text. Each finding is one line, its cure another below it.
pub(super) fn text(report: &Report, coloured: bool) -> String {
    let mut out = String::new();
    for section in Section::ALL {
        let findings = report
            .findings
            .iter()
            .filter(|finding| finding.section == section);
        let findings: Vec<&Finding> = findings.collect();
        if findings.is_empty() {
            continue;
        }
        out.push_str(&format!("{}\n", paint(section.title(), "1", coloured)));
        out.push_str(&table(report, section));
        for finding in findings {
            out.push_str(&line(finding, coloured));
        }
        out.push('\n');
    }
    out.push_str(&verdict(report));
    out
}

fn line(finding: &Finding, coloured: bool) -> String {
    let (mark, colour) = match finding.severity {
        Severity::Ok => ("ok", "32"),
        Severity::Info => ("info", "36"),
        Severity::Warning => ("warning", "33"),
        Severity::Problem => ("problem", "31"),
    };
    let mark = paint(&format!("{mark:7}"), colour, coloured);
    let message = one_line(&finding.message);
    let mut text = format!("  {mark}  {message}\n");
    if let Some(cure) = &finding.cure {
        text.push_str(&format!("           -> {}\n", one_line(cure)));
    }
    text
}

/// Names and values of the outside may hold anything: line breaks and control characters are shown, not obeyed.
fn one_line(text: &str) -> String {
    let shown = |letter: char| {
        if letter.is_control() {
            letter.escape_default().to_string()
        } else {
            letter.to_string()
        }
    };
    text.chars().map(shown).collect()
}

fn paint(text: &str, colour: &str, coloured: bool) -> String {
    if coloured {
        format!("\u{1b}[{colour}m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}

fn verdict(report: &Report) -> String {
    let problems = report.count(Severity::Problem);
    let warnings = count(report.count(Severity::Warning), "warning");
    match problems {
        0 => format!("No problem found, {warnings}.\n"),
        _ => format!("{}, {warnings}.\n", count(problems, "problem")),
    }
}

/// The table that stands above a section's findings.
fn table(report: &Report, section: Section) -> String {
    let (rows, columns): (_, &[(&str, &str)]) = match section {
        Section::Environment => (
            &report.configuration,
            &[
                ("variable", "variable"),
                ("value", "value"),
                ("from", "source"),
            ],
        ),
        Section::Editors => (
            &report.editors,
            &[
                ("name", "name"),
                ("hash", "hash"),
                ("port", "port"),
                ("age", "age"),
                ("state", "state"),
                ("", "life"),
                ("hash fits path", "hash_fits_path"),
                ("project", "project_path"),
            ],
        ),
        Section::Clients => (
            &report.clients,
            &[
                ("client", "client"),
                ("for", "scope"),
                ("key", "key"),
                ("starts", "kind"),
                ("file", "file"),
            ],
        ),
        _ => return String::new(),
    };
    if rows.is_empty() {
        return String::new();
    }
    let cell = |row: &Value, key: &str| match &row[key] {
        Value::Null => "-".to_owned(),
        Value::String(text) => one_line(text),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "NO".to_owned(),
        other => other.to_string(),
    };
    let head: Vec<String> = columns
        .iter()
        .map(|(title, _)| (*title).to_owned())
        .collect();
    let body = rows.iter();
    let body = body.map(|row| columns.iter().map(|(_, key)| cell(row, key)).collect());
    aligned(&[head].into_iter().chain(body).collect::<Vec<Vec<String>>>())
}

/// Rows with their columns below each other.
fn aligned(rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let pad = " ".repeat(width(column) - cell.chars().count());
            format!("{cell}{pad}")
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        out.push_str(&format!("  {}\n", line.trim_end()));
    }
    out
}

/// The whole report as data.
pub(super) fn facts(report: &Report, exit_status: u8) -> Value {
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "upstream_version": report.upstream_version,
        "exit_status": exit_status,
        "problems": report.count(Severity::Problem),
        "warnings": report.count(Severity::Warning),
        "findings": report.findings,
        "configuration": report.configuration,
        "editors": report.editors,
        "clients": report.clients,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_one_line_whatever_is_in_it() {
        let mut report = Report::default();
        report
            .add(Section::Editors, Severity::Problem, "x", "a\nb\u{1b}[31m")
            .cure("do\rthis");
        report
            .editors
            .push(json!({ "name": "Ä\u{7}\n", "port": null, "hash_fits_path": false }));
        let plain = text(&report, false);
        assert!(
            !plain.contains('\u{1b}') && !plain.contains('\r'),
            "{plain}"
        );
        assert!(
            plain.contains("  problem  a\\nb\\u{1b}[31m\n           -> do\\rthis\n"),
            "{plain}"
        );
        assert!(
            plain.contains("NO") && plain.contains("Ä\\u{7}\\n"),
            "{plain}"
        );
        assert!(plain.ends_with("1 problem, 0 warnings.\n"), "{plain}");
        let painted = text(&report, true);
        assert!(painted.contains("\u{1b}[31mproblem\u{1b}[0m"), "{painted}");
    }
}
