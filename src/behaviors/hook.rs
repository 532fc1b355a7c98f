//! Hooks: where a behaviour acts, what its function is asked, and what that may say.

use super::Cx;
use crate::call::{Call, Rewrite, Target};
use crate::contain::Class;
use crate::relay::hold::{Passage, Traffic, UnityBound};
use crate::relay::inflight::InFlight;
use crate::relay::witness::Seen;
use crate::reply::Reply;
use std::borrow::Cow;
use std::time::Duration;

/// [`Hook::Listing`]'s function.
pub type ListingHook = fn(&Listing<'_>, &Cx<'_>) -> Result<ListingEdit, String>;
/// The function of [`Hook::Guard`], [`Hook::DepartureGuard`] and [`Hook::Consent`].
pub type Guard = fn(&Call<'_>, &Cx<'_>) -> Check;
/// [`Hook::Hold`]'s function.
pub type HoldHook = fn(UnityBound<'_>, &Traffic, &Cx<'_>) -> Passage;
/// [`Hook::Rewrite`]'s function.
pub type RewriteHook = fn(&Call<'_>, &Cx<'_>) -> Rewriting;
/// [`Hook::Deadline`]'s function.
pub type DeadlineHook = fn(&Call<'_>, &Cx<'_>) -> Option<Expiry>;
/// [`Hook::Witness`]'s function.
pub type WitnessHook = fn(&Call<'_>, &Cx<'_>) -> Option<Seen>;
/// [`Hook::Edit`]'s function.
pub type EditHook = fn(&InFlight, &Reply<'_>, &Cx<'_>) -> Option<PayloadEdit>;
/// [`Hook::Verdict`]'s function.
pub type VerdictHook = fn(&InFlight, &Reply<'_>, &Cx<'_>) -> Option<Refusal>;
/// [`Hook::Note`]'s function.
pub type NoteHook = fn(&InFlight, &Reply<'_>, &Cx<'_>) -> Vec<Note>;

/// A point at which a behaviour acts.
#[derive(Clone, Copy, Debug)]
pub enum Hook {
    /// Looks at an answer to `tools/list`.
    Listing(ListingHook),
    /// Lets a call pass or refuses it. May be asked on arrival, long before the call goes out, and again then: it
    /// reads neither pins nor heartbeats nor the target, which is not worked out yet.
    Guard(Guard),
    /// The same for a guard that does read them: asked when the call goes out, of the state of that moment.
    DepartureGuard(Guard),
    /// A guard that asks for a yes: it runs when all others of the moment have let the call pass, so that nobody says
    /// yes to a call that is seen to be refused anyway. Like [`Hook::Guard`] it answers on arrival: a call that is to
    /// be sent again must not wait first.
    Consent(Guard),
    /// Says whether a Unity-bound request goes out now or waits. Asked when it arrives, and again when it goes out
    /// after a wait.
    Hold(HoldHook),
    /// Changes a call's arguments. Runs when all guards have passed.
    Rewrite(RewriteHook),
    /// Sets a limit to how long a forwarded call may take.
    Deadline(DeadlineHook),
    /// Takes down, of a call that goes out, what its answer or a later one is to be judged by.
    Witness(WitnessHook),
    /// Sets values in an answer's payload, on both surfaces.
    Edit(EditHook),
    /// Turns an answer into a refusal.
    Verdict(VerdictHook),
    /// Adds notes to an answer.
    Note(NoteHook),
}

impl Hook {
    /// What a failure of this hook costs.
    pub fn class(&self) -> Class {
        match self {
            Hook::Listing(_) => Class::Listing,
            Hook::Guard(_)
            | Hook::DepartureGuard(_)
            | Hook::Consent(_)
            | Hook::Hold(_)
            | Hook::Rewrite(_)
            | Hook::Deadline(_) => Class::Request,
            Hook::Verdict(_) => Class::Verdict,
            Hook::Witness(_) | Hook::Edit(_) | Hook::Note(_) => Class::Advisory,
        }
    }

    /// The hook's point, as the tables call it.
    pub fn point(&self) -> &'static str {
        match self {
            Hook::Listing(_) => "listing",
            Hook::Guard(_) | Hook::Consent(_) => "guard",
            Hook::DepartureGuard(_) => "guard at departure",
            Hook::Hold(_) => "hold",
            Hook::Rewrite(_) => "rewrite",
            Hook::Deadline(_) => "deadline",
            Hook::Witness(_) => "witness",
            Hook::Edit(_) => "edit",
            Hook::Verdict(_) => "verdict",
            Hook::Note(_) => "note",
        }
    }
}

/// A guard's answer.
#[derive(Clone, Debug)]
pub enum Check {
    /// Go on.
    Pass,
    /// Go on; the guards after this one see the call with this target. For guards at departure.
    Aim(Target),
    /// Answer the client with this and forward nothing.
    Refuse(Refusal),
}

/// A rewrite's answer.
#[derive(Clone, Debug)]
pub enum Rewriting {
    /// Leave the call as it is.
    Keep,
    /// Change it.
    Change(Rewrite),
}

/// A refusal's fact and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A stable code, one of the behaviour's `codes`.
    pub code: &'static str,
    /// What the model reads.
    pub text: String,
}

/// A note's fact and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// A stable code, one of the behaviour's `codes`.
    pub code: &'static str,
    /// What the model reads.
    pub text: String,
}

/// A limit on a call's time.
#[derive(Clone, Debug)]
pub struct Expiry {
    /// How long after forwarding.
    pub after: Duration,
    /// What the client is told then, of that time: most calls are answered, and need no text.
    pub refusal: fn(Duration) -> Refusal,
}

/// Values for an answer's payload.
#[derive(Clone, Debug)]
pub struct PayloadEdit {
    /// Where each value goes, and the value as JSON text. A key at the end of a path need not be there
    /// yet.
    pub set: Vec<(Vec<Step>, String)>,
    /// The fact that goes with them.
    pub code: &'static str,
}

/// A step into a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the value of this key.
    Key(&'static str),
    /// To the item at this place.
    Item(usize),
}

/// A tool of a listing.
#[derive(Clone, Debug)]
pub struct ListedTool<'a> {
    /// Its name; `None` when it has none or it is no string.
    pub name: Option<Cow<'a, str>>,
    /// The JSON text of its `inputSchema`.
    pub input_schema: Option<&'a str>,
}

/// An answer to `tools/list`.
#[derive(Clone, Debug)]
pub struct Listing<'a> {
    /// The tools, in upstream's order.
    pub tools: Vec<ListedTool<'a>>,
}

/// A key to set in a listed tool.
#[derive(Clone, Debug)]
pub struct ToolKey {
    /// The tool's place.
    pub at: usize,
    /// The keys that lead to it, its own last. Objects on the way that are missing are made;
    /// where something else stands in the way, nothing is set.
    pub path: &'static [&'static str],
    /// Its value, as JSON text.
    pub value: String,
}

/// What is to be done about a listing.
#[derive(Clone, Debug, Default)]
pub struct ListingEdit {
    /// The places of tools to hide.
    pub hide: Vec<usize>,
    /// Keys of tools to set. Every hook sees the listing as upstream sent it.
    pub set: Vec<ToolKey>,
    /// Tools with an argument `confirm` of their own.
    pub own_confirm: Vec<String>,
    /// The tools' names.
    pub listed: Vec<String>,
    /// Tools whose contract is not the baseline's: name and what changed.
    pub drifted: Vec<(String, String)>,
    /// Lines for stderr.
    pub log: Vec<String>,
}
