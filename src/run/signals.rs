//! What the system sends to end a process.

use super::shell::Event;
use tokio::sync::mpsc::Sender;

/// Reports SIGTERM, SIGINT and SIGHUP as events.
#[cfg(unix)]
pub(super) fn watch(events: &Sender<Event>) {
    use tokio::signal::unix::{SignalKind, signal};
    for kind in [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ] {
        let Ok(mut stream) = signal(kind) else {
            continue;
        };
        let events = events.clone();
        tokio::spawn(async move {
            while stream.recv().await.is_some() {
                let _loop_over = events.send(Event::Signal(kind.as_raw_value())).await;
            }
        });
    }
}

/// Reports Ctrl-C, Ctrl-Break, the closing of the console, logging off and shutting down as events.
#[cfg(windows)]
pub(super) fn watch(events: &Sender<Event>) {
    use tokio::signal::windows;
    /// What C's runtime calls SIGINT.
    const INTERRUPT: i32 = 2;
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
