//! Containment: a behaviour that panics costs what its class says and never the relay.
//!
//! Regions hold shared references without interior mutability only, so the compiler proves that a
//! contained panic leaves nothing half done ([`std::panic::UnwindSafe`] is required, never
//! asserted).

use std::cell::RefCell;
use std::fmt;
use std::panic::{UnwindSafe, catch_unwind};

/// What the caller is told when a region fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The call is refused and nothing is forwarded.
    Request,
    /// The answer is withheld.
    Verdict,
    /// The list is not shown.
    Listing,
    /// Upstream's own bytes go out.
    Advisory,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Request => "request",
            Class::Verdict => "verdict",
            Class::Listing => "listing",
            Class::Advisory => "advisory",
        })
    }
}

/// A region that panicked or gave up.
#[derive(Clone, Debug)]
pub struct Contained {
    /// The behaviour, or the part of the core.
    pub region: &'static str,
    /// What its failure costs.
    pub class: Class,
    /// The panic's or the error's message.
    pub message: String,
    /// `file:line` of the panic, or empty.
    pub place: String,
}

impl fmt::Display for Contained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "contained failure in {} (class {}): {}",
            self.region, self.class, self.message
        )?;
        if self.place.is_empty() {
            return Ok(());
        }
        write!(f, " at {}", self.place)
    }
}

thread_local! {
    /// Where the last panic of this thread stood; written by the hook, taken by [`contain`].
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Replaces the default panic hook, which prints a report of its own to stderr, by one that only
/// notes the place. Uncontained panics are reported by [`report_uncontained`].
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        PLACE.with(|slot| *slot.borrow_mut() = place);
    }));
}

/// Runs `region` and turns a panic into a [`Contained`].
///
/// # Errors
/// [`Contained`] when the region panics, or when it returns an error (its text is the message).
pub fn contain<T>(
    region: &'static str,
    class: Class,
    run: impl FnOnce() -> Result<T, String> + UnwindSafe,
) -> Result<T, Contained> {
    contain_one_of(|| region, class, run)
}

/// As [`contain`], for a region of several parts: `name` tells, afterwards, which of them failed.
///
/// # Errors
/// Those of [`contain`].
pub fn contain_one_of<T>(
    name: impl FnOnce() -> &'static str,
    class: Class,
    run: impl FnOnce() -> Result<T, String> + UnwindSafe,
) -> Result<T, Contained> {
    let (message, place) = match catch_unwind(run) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(message)) => (message, String::new()),
        Err(panic) => (
            panic_message(panic.as_ref()),
            PLACE.with(|slot| slot.take()),
        ),
    };
    Err(Contained {
        region: name(),
        class,
        message,
        place,
    })
}

/// The text a panic was raised with, and where, for one that nothing contained.
pub fn report_uncontained(panic: &(dyn std::any::Any + Send)) -> String {
    let place = PLACE.with(|slot| slot.take());
    format!("{} at {place}", panic_message(panic))
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        return (*text).to_owned();
    }
    panic
        .downcast_ref::<String>()
        .cloned()
        .unwrap_or_else(|| "a panic without a text".to_owned())
}
