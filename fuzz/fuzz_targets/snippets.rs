//! Whatever text stands for C#: the lexer ends, and a wrapped snippet holds the caller's own code verbatim.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vrc_mcp_proxy::csharp::lexer::tokens;
use vrc_mcp_proxy::csharp::literal::string_literal;
use vrc_mcp_proxy::csharp::prelude::{idempotency, key_of, venue};
use vrc_mcp_proxy::csharp::using::using_directive;

fuzz_target!(|code: &str| {
    let _seen = tokens(code).count();
    let _directive = using_directive(code);
    let literal = string_literal(code);
    assert!(literal.is_ascii() && !literal.contains(['\n', '\r']));
    let key = "0123456789abcdef0123456789abcdef";
    let once = idempotency(key).around(code);
    assert!(once.contains(code));
    assert_eq!(key_of(&once), Some(key));
    let here = venue(code, Some(key)).around(&once);
    assert!(here.contains(&once));
});
