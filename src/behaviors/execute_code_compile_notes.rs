//! Four compile errors whose texts send a reader the wrong way.

use super::{Behavior, Cx, Hook, Note};
use crate::csharp::diagnostics::diagnostics;
use crate::csharp::lexer::{TokenKind, tokens};
use crate::relay::inflight::InFlight;
use crate::reply::{Phrase, Reply};

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "execute_code_compile_notes",
    summary: "Says beside a compile failure what the usual traps behind its texts are.",
    tool: Some("execute_code"),
    hooks: &[Hook::Note(notes)],
    codes: &[
        ("ambiguous_name", "two imported namespaces define the name"),
        ("type_as_value", "a type stands where a value belongs"),
        (
            "name_unknown",
            "a type outside the imported namespaces, or a typo",
        ),
        ("kit_door_is_run", "a kit's primary door is Run"),
    ],
};

const NO_MEMBER: &str = "does not contain a definition for";

static LINE: Phrase = Phrase::new("Line ");

fn notes(call: &InFlight, reply: &Reply<'_>, _: &Cx<'_>) -> Vec<Note> {
    let action = call.action.as_deref();
    let executes = action == Some("execute");
    if !(executes || action == Some("replay")) || !reply.may_hold(&LINE) {
        return Vec::new();
    }
    let errors = reply.payload().map(diagnostics).unwrap_or_default();
    let any = |holds: &dyn Fn(&str) -> bool| errors.iter().any(|error| holds(error.text));
    let mut notes = Vec::new();
    let mut say = |code, text: &str| {
        let text = text.to_owned();
        notes.push(Note { code, text });
    };
    if any(&|text| text.contains("is an ambiguous reference")) {
        say("ambiguous_name", AMBIGUOUS);
    }
    if any(&is_type_as_value) {
        say("type_as_value", TYPE_AS_VALUE);
    }
    if any(&|text| text.contains("does not exist in the current context")) {
        say("name_unknown", UNKNOWN);
    }
    let sent = call.call();
    let code = sent.as_ref().filter(|_| executes);
    let code = code.and_then(|sent| sent.snippet());
    if any(&|text| is_kit_door(text, code.as_deref())) {
        say("kit_door_is_run", KIT_DOOR);
    }
    notes
}

const AMBIGUOUS: &str = "Ambiguous reference: two of the six imported namespaces define this name. Write it \
fully qualified; UnityEngine.Object and UnityEngine.Random are the usual two.";

const TYPE_AS_VALUE: &str = "A type stands where a value belongs. Usually this is an attempt to alias a static \
class (`var db = AssetDatabase;`), which C# does not have inside a method: write the class name at each use.";

const UNKNOWN: &str = "A name does not exist in the current context. Two causes look the same from here: a typo, \
or a type outside the six imported namespaces (System, System.Collections.Generic, System.Linq, \
System.Reflection, UnityEngine, UnityEditor) that is used without its namespace. Outside them are \
UnityEditor.SceneManagement (EditorSceneManager) and the tool doors Ryan6Vrc.AgentTools.Editor.<Tool> and \
Ryan6Vrc.AvatarTools.Editor.<Tool>: write the full name.";

const KIT_DOOR: &str = "That member is not there. The primary door of a kit's class is always Run: call \
Ryan6Vrc.<Kit>.Editor.<Class>.Run(...).";

/// Roslyn's wording, and mcs's two: it has another one for a qualified name (measured with mcs 6.8).
fn is_type_as_value(text: &str) -> bool {
    text.contains("is a type, which is not valid in the given context")
        || text.contains("is a `type' but a `variable' was expected")
        || text.contains("Expression denotes a `type', where a `variable'")
}

/// Whether the error is about a member of a kit's class: by the receiver's full name, which CodeDom keeps, or by
/// the class name alone, which is all that Roslyn says, where the snippet calls that class by its full name.
fn is_kit_door(text: &str, code: Option<&str>) -> bool {
    let Some((before, _)) = text.split_once(NO_MEMBER) else {
        return false;
    };
    let Some(receiver) = before.trim_end().strip_suffix('\'') else {
        return false;
    };
    let receiver = receiver.rsplit(['\'', '`']).next().unwrap_or_default();
    let parts: Vec<&str> = receiver.split('.').collect();
    match parts[..] {
        [root, _, "Editor", _] => is_root(root),
        [class] => code.is_some_and(|code| calls_kit_class(code, class)),
        _ => false,
    }
}

fn is_root(word: &str) -> bool {
    matches!(word, "Ryan6Vrc" | "Ryan6VRC")
}

/// Whether the snippet's code (not its texts or comments) holds `Ryan6Vrc.<Kit>.Editor.<class>.`.
fn calls_kit_class(code: &str, class: &str) -> bool {
    let code_tokens = tokens(code).filter(|token| token.kind != TokenKind::Comment);
    let words: Vec<&str> = code_tokens
        .map(|token| match token.kind {
            TokenKind::Word | TokenKind::Punctuator => code.get(token.range).unwrap_or_default(),
            _ => "",
        })
        .collect();
    words.windows(8).any(|window| match window {
        [root, ".", _, ".", "Editor", ".", named, "."] => is_root(root) && *named == class,
        _ => false,
    })
}
