//! Scenarios side by side: they wait for the server's own limits (10 to 36 s) far more than they
//! compute, while cargo runs no more tests at once than there are processors.
//!
//! A run without arguments starts the scenarios in a pool and lets each test wait for its own one.
//! With any argument (a filter, a number of threads) each test plays its scenario by itself.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::panic::{catch_unwind, set_hook};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::rig::home::Home;

/// A scenario's full name and what it does in a fresh home.
pub type Scenario = (&'static str, fn(&Home));

/// Scenarios at work at the same time. Each is four processes, three of which sleep most of the time.
const AT_ONCE: usize = 8;
/// Scenarios that start their server and compile a first snippet at the same time. That is all work,
/// and upstream's probe gives an Editor 0.3 s whatever the machine is busy with.
const STARTING: usize = 2;

type Outcome = Result<(), String>;

#[derive(Default)]
struct Pool {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Scenario>,
    outcomes: HashMap<&'static str, Outcome>,
    starting: usize,
}

thread_local! {
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Makes tests of scenarios of the same module, each under its own name in a module `test`, and lists
/// them as `ALL` for the run in which all are started together.
#[macro_export]
macro_rules! scenarios {
    ($($name:ident),* $(,)?) => {
        pub const ALL: &[$crate::together::Scenario] =
            &[$((concat!(module_path!(), "::", stringify!($name)), $name)),*];

        mod test {
            $(
                #[test]
                fn $name() {
                    let name = concat!(module_path!(), "::", stringify!($name));
                    $crate::together::play(&name.replace("::test::", "::"), super::$name);
                }
            )*
        }
    };
}

/// Plays a scenario, or waits until it has been played.
pub fn play(name: &str, scenario: fn(&Home)) {
    if !crate::rig::available(name) {
        return;
    }
    if std::env::args_os().len() > 1 {
        return scenario(&Home::new());
    }
    if let Err(why) = pool().outcome(name) {
        panic!("{why}");
    }
}

/// Lets only a few scenarios start up at a time.
pub fn starting<T>(start: impl FnOnce() -> T) -> T {
    struct Turn(&'static Pool);
    impl Drop for Turn {
        fn drop(&mut self) {
            self.0.state().starting -= 1;
            self.0.changed.notify_all();
        }
    }
    let pool = pool_unstarted();
    let mut state = pool.wait(|state| (state.starting < STARTING).then_some(()));
    state.0.starting += 1;
    let turn = Turn(pool);
    drop(state);
    let started = start();
    drop(turn);
    started
}

fn pool_unstarted() -> &'static Pool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    POOL.get_or_init(Pool::default)
}

fn pool() -> &'static Pool {
    static AT_WORK: OnceLock<()> = OnceLock::new();
    let pool = pool_unstarted();
    AT_WORK.get_or_init(|| {
        set_hook(Box::new(|panic| {
            let thread = std::thread::current();
            let line = format!("{}: {panic}\n", thread.name().unwrap_or("a thread"));
            // The harness shows what a test prints when that test fails. These are no threads of tests.
            let _ = std::io::stderr().write_all(line.as_bytes());
            LAST_PANIC.replace(line);
        }));
        pool.state().queue.extend(crate::all());
        for _ in 0..AT_ONCE {
            std::thread::spawn(|| pool.work());
        }
    });
    pool
}

impl Pool {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<T>(
        &self,
        mut wanted: impl FnMut(&mut State) -> Option<T>,
    ) -> (MutexGuard<'_, State>, T) {
        let mut state = self.state();
        loop {
            if let Some(found) = wanted(&mut state) {
                return (state, found);
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn outcome(&self, name: &str) -> Outcome {
        self.wait(|state| state.outcomes.remove(name)).1
    }

    fn work(&'static self) {
        while let Some((name, scenario)) = self.next() {
            let thread = std::thread::Builder::new().name(name.to_owned());
            let played = thread
                .spawn(move || {
                    let played = catch_unwind(|| scenario(&Home::new()));
                    played.map_err(|_| LAST_PANIC.take())
                })
                .unwrap()
                .join();
            let outcome = played.unwrap_or_else(|_| Err(format!("{name} could not be played")));
            self.state().outcomes.insert(name, outcome);
            self.changed.notify_all();
        }
    }

    fn next(&self) -> Option<Scenario> {
        self.state().queue.pop_front()
    }
}
