//! Whatever bytes a client sends: what is forwarded is one message on one line, and no call of a hidden tool, no
//! unwrapped snippet, no refused action. The judge here is serde_json; `tests/fuzz.rs` asks the server's own SDK.
#![no_main]

#[path = "../session.rs"]
mod session;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use session::{Session, judge};

fuzz_target!(|bytes: &[u8]| {
    let mut session = Session::new();
    for line in bytes.split(|&byte| byte == b'\n') {
        session.client_sends(line);
        for line in session.take_forwarded() {
            let text = std::str::from_utf8(&line).expect("UTF-8");
            assert!(!text.contains(['\r', '\n']), "split: {text:?}");
            // serde_json gives up on what nests deeper than it likes.
            if let Ok(message) = serde_json::from_str::<Value>(text) {
                judge(&message);
            }
        }
    }
});
