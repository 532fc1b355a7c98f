//! How often the Editor runs one call.

use super::faults::Finding;
use super::stand::{Answer, Stand};
use crate::commands::Failure;
use serde_json::json;
use std::time::{Duration, Instant};

/// The bridge gives a command so long, then the server sends it again (measured against 10.1.0).
const BRIDGE_LIMIT: Duration = Duration::from_secs(30);
/// How long no further run may come until they are counted.
const STILL: Duration = Duration::from_secs(6);
/// Longer than the server's list of Editors is good for: 5 s (measured against 10.1.0).
const STALE: Duration = Duration::from_secs(6);

/// A snippet that throws a text with the letters "reload".
pub(super) fn reload_word(stand: &mut Stand) -> Result<Finding, Failure> {
    let tally = stand.tally("reload");
    let code = tally.snippet("", "throw new System.Exception(\"cannot Reload this\");");
    let answer = stand.call("execute_code", &stand.execute(&code))?;
    let runs = stand.settled(&tally, STILL)?;
    let told = answer.quoted();
    Ok(match runs {
        0 => Finding::not_told(format!(
            "the snippet did not run; the client was told {told}"
        )),
        1 if answer.text().contains("cannot Reload this") => {
            Finding::gone("the snippet ran once, and its own text came back")
        }
        1 => Finding::not_told(format!(
            "the snippet ran once, but the client was told {told}"
        )),
        _ => Finding::still_there(format!(
            "one call ran {runs} times; the client was told {told}"
        )),
    })
}

/// A snippet of 9 s, and a call beside it when the server has to look for Editors anew.
pub(super) fn parallel_calls(stand: &mut Stand) -> Result<Finding, Failure> {
    let tally = stand.tally("parallel");
    let code = tally.snippet("System.Threading.Thread.Sleep(9000);", "return \"done\";");
    let slow = stand.begin("execute_code", &stand.execute(&code))?;
    if !stand.started(&tally)? {
        return Ok(Finding::not_told("the slow snippet did not start"));
    }
    stand.wait(STALE)?;
    let beside = json!({ "action": "get", "count": 1 });
    let beside = stand.begin("read_console", &beside)?;
    let slow = stand.answer(slow)?;
    let beside = match slow {
        Some(_) => stand.answer(beside)?,
        None => None,
    };
    let runs = stand.settled(&tally, STILL)?;
    let told = |answer: &Option<Answer>| {
        let quoted = answer.as_ref().map(Answer::quoted);
        quoted.unwrap_or_else(|| "nothing".to_owned())
    };
    if runs > 1 {
        return Ok(Finding::still_there(format!(
            "the slow call ran {runs} times; the client was told {}",
            told(&slow)
        )));
    }
    let done = slow.as_ref().is_some_and(Answer::succeeded);
    Ok(if done && beside.is_some() {
        Finding::gone("the slow call ran once, and both were answered")
    } else {
        Finding::not_told(format!(
            "the slow call ran once and was answered with {}, the one beside it with {}",
            told(&slow),
            told(&beside)
        ))
    })
}

/// A snippet of 35 s: past the bridge's limit.
pub(super) fn double_execution(stand: &mut Stand) -> Result<Finding, Failure> {
    let tally = stand.tally("double");
    let code = tally.snippet("System.Threading.Thread.Sleep(35000);", "return \"done\";");
    let began = Instant::now();
    let answer = stand.call("execute_code", &stand.execute(&code))?;
    let took = began.elapsed();
    let runs = stand.settled(&tally, STILL)?;
    let told = answer.quoted();
    Ok(match runs {
        0 => Finding::not_told(format!(
            "the snippet did not run; the client was told {told}"
        )),
        1 if answer.succeeded() || took >= BRIDGE_LIMIT => {
            Finding::gone(format!("the snippet ran once; the client was told {told}"))
        }
        1 => Finding::not_told(format!(
            "the snippet ran once, but the call ended after {} s: {told}",
            took.as_secs()
        )),
        _ => Finding::still_there(format!(
            "one call of 35 s ran {runs} times; the client was told {told}"
        )),
    })
}
