//! The `demo` command: the real relay between a client and a simulated server, and a readable account of
//! what each side saw. Every claim that the account makes is checked while it is made.

mod check;
mod scenes;
mod show;
mod stage;

use super::{Failure, NOT_AS_IT_SHOULD_BE, print, print_json};
use serde::Serialize;
use serde_json::Value;
use show::{messages, paragraph, remark, side_by_side};
use stage::Stage;
use std::time::Instant;

/// The arguments.
#[derive(clap::Args)]
pub(super) struct Options {
    /// Print the account as JSON
    #[arg(long)]
    json: bool,
}

/// What happened in a scene.
#[derive(Debug, Default, Serialize)]
struct Played {
    title: &'static str,
    about: &'static str,
    /// The client's messages.
    client_sent: Vec<Value>,
    /// What arrived at the server.
    upstream_got: Vec<Value>,
    /// Whether that is the client's message, byte for byte.
    forwarded_unchanged: bool,
    /// The server's messages, text lines as strings.
    upstream_said: Vec<Value>,
    /// What arrived at the client.
    client_told: Vec<Value>,
    /// Whether that is the server's message, byte for byte.
    answered_unchanged: bool,
    /// The line on stderr that belongs to the scene.
    stderr: Option<String>,
    /// What was not as claimed.
    not_as_told: Vec<String>,
}

/// The whole account.
#[derive(Serialize)]
struct Account {
    as_told: bool,
    seconds: f64,
    scenes: Vec<Played>,
}

pub(super) fn run(options: &Options) -> Result<u8, Failure> {
    let started = Instant::now();
    let tell = |text: String| if options.json { Ok(()) } else { print(&text) };
    tell(opening())?;
    let scenes = scenes::all()?;
    let mut stage = Stage::set(&scenes)?;
    let mut account = Account {
        as_told: true,
        seconds: 0.0,
        scenes: Vec::new(),
    };
    let mut keep = |played: Played| {
        let number = account.scenes.len() + 1;
        let text = told(number, &played);
        account.as_told &= played.not_as_told.is_empty();
        account.scenes.push(played);
        text
    };
    for (number, scene) in scenes.iter().enumerate() {
        let text = keep(stage.play(number, scene)?);
        tell(text)?;
    }
    let text = keep(stage.end()?);
    tell(text)?;
    account.seconds = started.elapsed().as_secs_f64();
    if options.json {
        print_json(&account)?;
    }
    tell(closing(&account))?;
    Ok(if account.as_told {
        0
    } else {
        NOT_AS_IT_SHOULD_BE
    })
}

fn opening() -> String {
    paragraph(
        "A session between an MCP client and MCP for Unity, with vrc-mcp-proxy between them. The relay is \
         the real one, with every behaviour on. The client is this demo, and the server is simulated: it \
         says what the real one says, and no Unity is needed.",
    ) + "\n"
}

fn closing(account: &Account) -> String {
    let bad = account
        .scenes
        .iter()
        .filter(|played| !played.not_as_told.is_empty());
    let (bad, all) = (bad.count(), account.scenes.len());
    let seconds = account.seconds;
    if bad == 0 {
        return format!(
            "All {all} scenes went as told, in {seconds:.1} s.\nNext: the README's Install, or \
             `vrc-mcp-proxy behaviors` for all behaviours and their switches.\n"
        );
    }
    format!("{bad} of {all} scenes did NOT go as told.\n")
}

/// A scene in words.
fn told(number: usize, played: &Played) -> String {
    let got = if played.forwarded_unchanged {
        remark("the same, byte for byte")
    } else {
        messages(&played.upstream_got, "(nothing)")
    };
    let mut client = if played.answered_unchanged {
        remark("the same, byte for byte")
    } else {
        messages(&played.client_told, "(nothing)")
    };
    if let Some(line) = &played.stderr {
        client.extend(remark(&format!("on stderr: {line}")));
    }
    let mut text = format!("{number}. {}\n", played.title);
    text.push_str(&paragraph(played.about));
    text.push('\n');
    let sent = messages(&played.client_sent, "(nothing)");
    text.push_str(&side_by_side(
        ["the client sent", "the server got"],
        &sent,
        &got,
    ));
    let said = messages(&played.upstream_said, "(nothing)");
    text.push_str(&side_by_side(
        ["the server said", "the client was told"],
        &said,
        &client,
    ));
    for claim in &played.not_as_told {
        text.push_str(&paragraph(&format!("NOT AS TOLD: {claim}")));
    }
    text + "\n"
}
