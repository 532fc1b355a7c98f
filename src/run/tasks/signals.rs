//! What the system sends to end a process.

use crate::run::shell::Event;
use tokio::signal::windows;
use tokio::sync::mpsc::Sender;

/// What C's runtime calls SIGINT.
const INTERRUPT: i32 = 2;

/// Reports Ctrl-C, Ctrl-Break, the closing of the console, logging off and shutting down as events.
pub(super) fn watch(events: &Sender<Event>) {
    macro_rules! watch {
        ($($stream:path),*) => {$(
            if let Ok(mut stream) = $stream() {
                let events = events.clone();
                tokio::spawn(async move {
                    while stream.recv().await.is_some() {
                        let _loop_over = events.send(Event::Signal(INTERRUPT)).await;
                    }
                });
            }
        )*};
    }
    watch!(
        windows::ctrl_c,
        windows::ctrl_break,
        windows::ctrl_close,
        windows::ctrl_logoff,
        windows::ctrl_shutdown
    );
}
