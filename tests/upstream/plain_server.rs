//! A server without the faults of upstream: it delivers each call once over one connection that it keeps, and hands
//! the answer on as it is. It knows the one Editor whose heartbeat lies in `UNITY_MCP_STATUS_DIR`.

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::socket::{read_frame, write_frame};

/// Serves until its input ends.
pub fn main() {
    let mut connection = None;
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let message: Value = serde_json::from_str(&line).unwrap();
        let id = message["id"].clone();
        if id.is_null() {
            continue;
        }
        let params = message["params"].clone();
        match message["method"].as_str() {
            Some("initialize") => say(&id, &hello()),
            Some("tools/call") if params["name"] == "set_active_instance" => {
                say(
                    &id,
                    &result(&json!({"success": true, "message": "Active instance set."})),
                );
            }
            Some("tools/call") => {
                let editor =
                    Arc::clone(connection.get_or_insert_with(|| Arc::new(Mutex::new(connect()))));
                std::thread::spawn(move || {
                    // One command at a time, in any order: a client that waits for none may not be kept waiting.
                    let answer = deliver(&editor.lock().unwrap(), &params);
                    say(&id, &result(&answer));
                });
            }
            other => panic!("{other:?}"),
        }
    }
}

fn hello() -> Value {
    json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "plain", "version": "0"},
    })
}

fn result(payload: &Value) -> Value {
    json!({"content": [{"type": "text", "text": payload.to_string()}], "isError": false})
}

fn say(id: &Value, result: &Value) {
    let line = json!({"jsonrpc": "2.0", "id": id, "result": result});
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")
        .and_then(|()| output.flush())
        .unwrap();
}

#[allow(
    clippy::disallowed_methods,
    reason = "it stands where upstream does, whose part it is to connect"
)]
fn connect() -> TcpStream {
    let folder = PathBuf::from(std::env::var_os("UNITY_MCP_STATUS_DIR").unwrap());
    let status = |name: &str| name.starts_with("unity-mcp-status-");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap());
    let mut files = files.filter(|file| status(file.file_name().to_str().unwrap()));
    let beat: Value =
        serde_json::from_slice(&std::fs::read(files.next().unwrap().path()).unwrap()).unwrap();
    let port = u16::try_from(beat["unity_port"].as_u64().unwrap()).unwrap();
    let socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    // The greeting is one line, and nothing follows it until a command is sent.
    let mut greeting = String::new();
    BufReader::with_capacity(1, &socket)
        .read_line(&mut greeting)
        .unwrap();
    socket
}

/// Sends the command and takes its answer as the payload.
fn deliver(editor: &TcpStream, params: &Value) -> Value {
    let command = json!({"type": params["name"], "params": in_the_bridges_words(params)});
    write_frame(editor, command.to_string().as_bytes()).unwrap();
    let mut answer: Value = serde_json::from_slice(&read_frame(editor).unwrap()).unwrap();
    if answer["status"] == "success" {
        let mut payload = answer["result"].take();
        if payload["message"].is_null() {
            payload["message"] = payload["error"].clone();
        }
        payload
    } else {
        json!({"success": false, "message": answer["error"]})
    }
}

/// The arguments as the bridge reads them: `search_pattern` is `searchPattern` to all of its tools but one.
fn in_the_bridges_words(params: &Value) -> Value {
    if params["name"] == "execute_code" {
        return params["arguments"].clone();
    }
    let arguments = params["arguments"].as_object().unwrap().iter();
    arguments
        .map(|(name, value)| (camel(name), value.clone()))
        .collect()
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (head, tail) = word.split_at(word.len().min(1));
        name + &head.to_uppercase() + tail
    })
}
