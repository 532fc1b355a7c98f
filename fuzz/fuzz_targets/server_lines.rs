//! Whatever bytes the server sends: the client gets whole lines, and one answer at the most to each of its requests.
#![no_main]

#[path = "../session.rs"]
mod session;

use libfuzzer_sys::fuzz_target;
use session::Session;

const CALLS: [&str; 5] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code","arguments":{"action":"execute","code":"return 1;"}}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"manage_asset","arguments":{"action":"search","path":"Assets/X","search_pattern":"*.cs"}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"set_active_instance","arguments":{"instance":"Alpha@0be31597"}}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":"5","method":"tools/call","params":{"name":"manage_gameobject","arguments":{"action":"modify","target":"X"}}}"#,
];

fuzz_target!(|bytes: &[u8]| {
    for call in CALLS {
        let mut session = Session::new();
        session.client_sends(call.as_bytes());
        session.take_forwarded();
        let before = session.waiting();
        for line in bytes.split(|&byte| byte == b'\n') {
            session.server_sends(line);
        }
        for line in session.take_delivered() {
            assert!(!line.contains(&b'\n'));
        }
        assert!(session.waiting() <= before);
        session.end();
        assert_eq!(session.waiting(), 0);
    }
});
