//! Hooks that panic once they are armed, and the behaviours that carry them.

use std::cell::Cell;
use std::panic::panic_any;
use std::sync::Once;
use vrc_mcp_proxy::behaviors::{
    Behavior, Check, Cx, Expiry, Hook, Listing, ListingEdit, Note, PayloadEdit, REGISTRY, Refusal,
    Rewriting,
};
use vrc_mcp_proxy::call::Call;
use vrc_mcp_proxy::contain::install_panic_hook;
use vrc_mcp_proxy::relay::hold::{Passage, Traffic, UnityBound};
use vrc_mcp_proxy::relay::inflight::InFlight;
use vrc_mcp_proxy::relay::witness::Seen;
use vrc_mcp_proxy::reply::Reply;

thread_local! {
    /// Whether the next swapped hook panics.
    pub(crate) static ARMED: Cell<bool> = const { Cell::new(false) };
    /// Whether the panic that is reported next is one of these.
    static MEANT: Cell<bool> = const { Cell::new(false) };
}

/// What a hook panics with.
pub(crate) trait Payload {
    /// The text that stderr must show for it.
    const SHOWN: &'static str;
    fn throw();
}

/// No panic at all.
pub(crate) struct Calm;

pub(crate) struct Literal;
pub(crate) struct Text;
pub(crate) struct Other;

impl Payload for Calm {
    const SHOWN: &'static str = "";
    fn throw() {}
}

impl Payload for Literal {
    const SHOWN: &'static str = "a literal";
    fn throw() {
        panic!("a literal")
    }
}

impl Payload for Text {
    const SHOWN: &'static str = "a text of 3 words";
    fn throw() {
        panic_any(format!("a text of {} words", 3))
    }
}

impl Payload for Other {
    const SHOWN: &'static str = "a panic without a text";
    fn throw() {
        panic_any(7_u8)
    }
}

pub(crate) fn once<P: Payload>() {
    if !P::SHOWN.is_empty() && ARMED.take() {
        MEANT.set(true);
        P::throw();
    }
}

fn listing<P: Payload>(_: &Listing<'_>, _: &Cx<'_>) -> Result<ListingEdit, String> {
    once::<P>();
    Ok(ListingEdit::default())
}

fn guard<P: Payload>(_: &Call<'_>, _: &Cx<'_>) -> Check {
    once::<P>();
    Check::Pass
}

fn hold<P: Payload>(_: UnityBound<'_>, _: &Traffic, _: &Cx<'_>) -> Passage {
    once::<P>();
    Passage::default()
}

fn rewrite<P: Payload>(_: &Call<'_>, _: &Cx<'_>) -> Rewriting {
    once::<P>();
    Rewriting::Keep
}

fn deadline<P: Payload>(_: &Call<'_>, _: &Cx<'_>) -> Option<Expiry> {
    once::<P>();
    None
}

fn witness<P: Payload>(_: &Call<'_>, _: &Cx<'_>) -> Option<Seen> {
    once::<P>();
    None
}

fn edit<P: Payload>(_: &InFlight, _: &Reply<'_>, _: &Cx<'_>) -> Option<PayloadEdit> {
    once::<P>();
    None
}

fn verdict<P: Payload>(_: &InFlight, _: &Reply<'_>, _: &Cx<'_>) -> Option<Refusal> {
    once::<P>();
    None
}

fn note<P: Payload>(_: &InFlight, _: &Reply<'_>, _: &Cx<'_>) -> Vec<Note> {
    once::<P>();
    Vec::new()
}

/// A hook of the same kind that panics once it is armed.
pub(crate) fn panicking<P: Payload>(hook: &Hook) -> Hook {
    match hook {
        Hook::Listing(_) => Hook::Listing(listing::<P>),
        Hook::Guard(_) => Hook::Guard(guard::<P>),
        Hook::Consent(_) => Hook::Consent(guard::<P>),
        Hook::DepartureGuard(_) => Hook::DepartureGuard(guard::<P>),
        Hook::Hold(_) => Hook::Hold(hold::<P>),
        Hook::Rewrite(_) => Hook::Rewrite(rewrite::<P>),
        Hook::Deadline(_) => Hook::Deadline(deadline::<P>),
        Hook::Witness(_) => Hook::Witness(witness::<P>),
        Hook::Edit(_) => Hook::Edit(edit::<P>),
        Hook::Verdict(_) => Hook::Verdict(verdict::<P>),
        Hook::Note(_) => Hook::Note(note::<P>),
    }
}

const ALL_KINDS: &[Hook] = &[
    Hook::Listing(listing::<Calm>),
    Hook::Guard(guard::<Calm>),
    Hook::Consent(guard::<Calm>),
    Hook::DepartureGuard(guard::<Calm>),
    Hook::Hold(hold::<Calm>),
    Hook::Rewrite(rewrite::<Calm>),
    Hook::Deadline(deadline::<Calm>),
    Hook::Witness(witness::<Calm>),
    Hook::Edit(edit::<Calm>),
    Hook::Verdict(verdict::<Calm>),
    Hook::Note(note::<Calm>),
];

pub(crate) fn probe(name: &'static str, hooks: &'static [Hook]) -> Behavior {
    Behavior {
        name,
        summary: "Stands in for a behaviour.",
        tool: None,
        hooks,
        codes: &[("probed", "it was probed")],
    }
}

/// The registry between the two behaviours of the test's own.
pub(crate) fn registry() -> Vec<Behavior> {
    let mut registry = vec![probe("first_probe", ALL_KINDS)];
    registry.extend_from_slice(REGISTRY);
    registry.push(probe("last_probe", ALL_KINDS));
    registry
}

/// The product's panic hook, and the default one's report for a panic that no hook meant.
pub(crate) fn note_places() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = std::panic::take_hook();
        install_panic_hook();
        let note = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            note(info);
            if !MEANT.take() {
                report(info);
            }
        }));
    });
}
