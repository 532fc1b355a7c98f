//! The difference between two baselines as a table.

use super::text::wrap;
use crate::baseline::{Changes, Report, ToolChange, ToolReport};

/// Columns of the whole table.
const WIDTH: usize = 100;
/// Columns that the text of a difference gets at least.
const NARROW: usize = 40;
/// What the counted columns are called.
const KINDS: [&str; 4] = ["contract", "output", "annotations", "wording"];

/// How many tools, which of them differ and by how much, then each difference, and what follows from them.
pub(super) fn table(report: &Report) -> String {
    let mut out = heading(report);
    let (exposed, hidden): (Vec<&ToolReport>, Vec<&ToolReport>) =
        report.tools.iter().partition(|tool| tool.exposed);
    for (group, tools) in [("exposed tool", exposed), ("hidden tool", hidden)] {
        if !tools.is_empty() {
            out.push_str(&format!("\n{}\n{}", counts(group, &tools), details(&tools)));
        }
    }
    out.push_str(&format!("\n{}\n", verdict(report)));
    if !report.listings_compared {
        out.push_str(
            "Output schemas, annotations and the tools' own texts were not compared: one of the files was taken \
             without them.\n",
        );
    }
    out
}

fn heading(report: &Report) -> String {
    let count = |wanted: fn(&ToolChange) -> bool| {
        let tools = report.tools.iter();
        tools.filter(|tool| wanted(&tool.change)).count()
    };
    format!(
        "mcpforunityserver {} → {}: {} → {} tools, {} added, {} gone, {} changed\n",
        report.old_version,
        report.new_version,
        report.old_tools,
        report.new_tools,
        count(|change| *change == ToolChange::Added),
        count(|change| *change == ToolChange::Removed),
        count(|change| matches!(change, ToolChange::Changed(_))),
    )
}

/// A line for each tool with how many differences of each kind it has.
fn counts(group: &str, tools: &[&ToolReport]) -> String {
    let names = tools.iter().map(|tool| tool.name.chars().count());
    let names = names.max().unwrap_or(0).max(group.len());
    let mut out = format!("{group:names$}  {}\n", KINDS.join("  "));
    for tool in tools {
        let cells = match &tool.change {
            ToolChange::Added => "added".to_owned(),
            ToolChange::Removed => "gone".to_owned(),
            ToolChange::Changed(changes) => {
                let cell = |(kind, count): (&str, usize)| {
                    let count = if count == 0 {
                        "-".to_owned()
                    } else {
                        count.to_string()
                    };
                    format!("{count:>width$}", width = kind.len())
                };
                KINDS
                    .into_iter()
                    .zip(numbers(changes))
                    .map(cell)
                    .collect::<Vec<_>>()
                    .join("  ")
            }
        };
        out.push_str(&format!("{:names$}  {cells}\n", tool.name));
    }
    out
}

fn numbers(changes: &Changes) -> [usize; 4] {
    let Changes {
        contract,
        output,
        annotations,
        wording,
    } = changes;
    [
        contract.len(),
        output.len(),
        annotations.len(),
        wording.len(),
    ]
}

/// Each difference, under the name of its tool.
fn details(tools: &[&ToolReport]) -> String {
    let mut out = String::new();
    for tool in tools {
        let ToolChange::Changed(changes) = &tool.change else {
            continue;
        };
        out.push_str(&format!("{}\n", tool.name));
        let Changes {
            contract,
            output,
            annotations,
            wording,
        } = changes;
        let differences = [contract, output, annotations]
            .map(|list| list.iter().map(ToString::to_string).collect::<Vec<_>>());
        for (kind, entries) in KINDS.into_iter().zip(differences.iter().chain([wording])) {
            entries.iter().for_each(|entry| row(kind, entry, &mut out));
        }
    }
    out
}

fn row(kind: &str, entry: &str, out: &mut String) {
    let mut start = format!("  {kind:11}  ");
    for line in wrap(entry, WIDTH.saturating_sub(start.len()).max(NARROW)) {
        out.push_str(&format!("{start}{line}\n"));
        start = " ".repeat(start.len());
    }
}

fn verdict(report: &Report) -> String {
    if !report.changes_contracts() {
        let outputs = if report.changes_outputs() {
            ", output schemas differ"
        } else {
            ""
        };
        return format!("The contracts are equal{outputs}.");
    }
    let changed = |tool: &&ToolReport| match &tool.change {
        ToolChange::Changed(changes) => tool.exposed && !changes.contract.is_empty(),
        ToolChange::Added | ToolChange::Removed => tool.exposed,
    };
    let tools = report.tools.iter().filter(changed);
    let tools: Vec<&str> = tools.map(|tool| tool.name.as_str()).collect();
    let exposed = if tools.is_empty() {
        "none".to_owned()
    } else {
        tools.join(", ")
    };
    let outputs = if report.changes_outputs() {
        " and output schemas"
    } else {
        ""
    };
    format!("The contracts{outputs} differ. Exposed tools whose contract differs: {exposed}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::{Baseline, ToolText, diff};

    fn tool<'a>(name: &'a str, input: &'a str, output: &'a str, marks: &'a str) -> ToolText<'a> {
        ToolText {
            name,
            input_schema: Some(input),
            output_schema: Some(output),
            annotations: Some(marks),
            title: Some("\"A title\""),
            description: None,
        }
    }

    fn taken(version: &str, tools: &[ToolText<'_>]) -> Baseline {
        Baseline::capture(version, tools.iter().copied()).expect("a baseline")
    }

    #[test]
    fn each_tool_has_its_counts_and_its_differences_the_exposed_first() {
        let input = |of: &str| {
            format!(r#"{{"properties":{{"a":{{"type":"{of}","description":"A {of}."}}}}}}"#)
        };
        let (text, number) = (input("string"), input("integer"));
        let object = r#"{"type":"object"}"#;
        let old = taken(
            "1",
            &[
                tool("alpha", &text, object, r#"{"readOnlyHint":true}"#),
                tool("left", "{}", object, "{}"),
                tool("zeta", &text, object, "{}"),
            ],
        );
        let wrapped = r#"{"type":"object","x-wrap":true}"#;
        let new = taken(
            "2",
            &[
                tool(
                    "alpha",
                    &text,
                    object,
                    r#"{"readOnlyHint":false,"title":"B"}"#,
                ),
                tool("fresh", "{}", object, "{}"),
                tool("zeta", &number, wrapped, "{}"),
            ],
        );
        let report = diff(&old, &new, |name| name == "zeta");
        let expected = "\
mcpforunityserver 1 → 2: 3 → 3 tools, 1 added, 1 gone, 2 changed

exposed tool  contract  output  annotations  wording
zeta                 1       1            -        1

zeta
  contract     properties/a/type: \"string\" → \"integer\"
  output       x-wrap: absent → true
  wording      properties/a/description

hidden tool  contract  output  annotations  wording
alpha               -       -            1        1
fresh        added
left         gone

alpha
  annotations  readOnlyHint: true → false
  wording      annotations/title

The contracts and output schemas differ. Exposed tools whose contract differs: zeta.
";
        assert_eq!(table(&report), expected);
    }

    #[test]
    fn equal_ones_and_those_taken_without_the_rest_are_told() {
        let new = taken("2", &[tool("a", "{}", "{}", "{}")]);
        let same = diff(&new, &new, |_| true);
        let head = "mcpforunityserver 2 → 2: 1 → 1 tools, 0 added, 0 gone, 0 changed\n";
        assert_eq!(table(&same), format!("{head}\nThe contracts are equal.\n"));
        let bare = r#"{"server_version":"2","tools":{"a":{"contract":true,"texts":{}}}}"#;
        let bare = Baseline::parse(bare).expect("a baseline of the first form");
        let table = table(&diff(&bare, &new, |_| true));
        assert!(table.contains("were not compared"), "{table}");
        assert!(table.contains("0 changed"), "{table}");
    }
}
