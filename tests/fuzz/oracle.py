"""Reads what a client sent and what the relay made of it, with the SDK that the server is made with.

Standard input: one JSON array a line: the client's bytes, the lines forwarded, the answers of the relay's own, all in
hexadecimal digits. Standard output: one JSON object with the faults found and how much was looked at.

Knows nothing of the relay's code: how the server reads its input was measured against 10.1.0, and what may not
reach it stands in docs/behaviors.md.
"""

import io
import json
import sys

from mcp import types

EXPOSED = {
    "debug_request_context", "execute_code", "execute_menu_item", "find_gameobjects", "manage_asset",
    "manage_camera", "manage_editor", "manage_gameobject", "manage_packages", "manage_scene", "refresh_unity",
    "set_active_instance", "unity_reflect",
}
# What the lines around a snippet cannot do without.
WRAPPED = ("UnityEditor.SessionState", "/* vrc-mcp-proxy key ")


def lines_of(raw):
    """As the server splits its input: universal newlines, and damaged bytes replaced."""
    return list(io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8", errors="replace"))


def message_of(line):
    """As the server reads a line; None where it drops it."""
    try:
        return types.JSONRPCMessage.model_validate_json(line).root
    except Exception:
        return None


def is_strict(line):
    """Whether it is JSON without the server's liberties."""
    def no(word):
        raise ValueError(word)

    try:
        return isinstance(json.loads(line, parse_constant=no), dict)
    except (ValueError, RecursionError):
        return False


def is_request(line):
    message = json.loads(line)
    return "id" in message and "method" in message


def forbidden(message, line):
    """Why a message may not reach the server; None where it may."""
    if message is None:
        return "the server drops a request without a word" if is_request(line) else None
    if getattr(message, "method", None) != "tools/call":
        return None
    if not isinstance(message, types.JSONRPCRequest):
        return "a tools/call without an id"
    params = message.params or {}
    name, arguments = params.get("name"), params.get("arguments") or {}
    if name not in EXPOSED:
        return f"a call of {name!r}, which is hidden"
    if not isinstance(arguments, dict):
        return None
    action = arguments.get("action")
    if name == "execute_code" and action == "execute" and isinstance(arguments.get("code"), str):
        code = arguments["code"]
        if code.strip() and not all(part in code for part in WRAPPED):
            return "a snippet that is not wrapped"
        if "safety_checks" not in arguments:
            return "a snippet without safety_checks"
    if name == "manage_asset" and action in ("move", "rename"):
        return f"manage_asset {action}"
    if name == "manage_scene" and action == "load" and "additive" not in arguments:
        return "manage_scene load without additive"
    return None


def id_of(answer):
    return json.dumps(answer.get("id"))


def check(sent, forwarded, answered, count):
    for raw in forwarded:
        split = lines_of(raw + b"\n")
        if len(split) != 1:
            yield f"the server reads {len(split)} lines"
        for line in split:
            message = message_of(line)
            why = forbidden(message, line)
            if why:
                yield why
            elif getattr(message, "method", None) == "tools/call":
                count["calls"] += 1
    if len(forwarded) > 1 or len(answered) > 1:
        yield "more than one line for one"
    if answered and not forwarded:
        count["stopped"] += 1
    # What is lost: only where both sides agree on what a line and a character is.
    if b"\r" in sent:
        return
    try:
        text = sent.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return
    # A byte order mark makes the server drop a line that the relay mends.
    message = message_of(text)
    if message is None or not is_strict(text):
        return
    bare = sent.removeprefix(b"\xef\xbb\xbf")
    fields = json.loads(text)
    answers = isinstance(message, types.JSONRPCResponse | types.JSONRPCError)
    if "method" in fields and (answers or "error" in fields) or "error" in fields and not answers:
        # The server reads it as one thing or another, by what stands beside: the relay asks for one meaning.
        return
    if isinstance(message, types.JSONRPCRequest):
        asked = json.dumps(message.id)
        ids = [json.dumps(message_of(raw.decode()).id) for raw in forwarded if message_of(raw.decode())]
        ids += [id_of(json.loads(raw)) for raw in answered]
        if ids != [asked]:
            yield f"request {asked} got {ids}"
        if message.method != "tools/call" and forwarded != [bare]:
            yield "a request that is no call was changed or not forwarded"
    elif not isinstance(fields.get("id", ""), str | int) or isinstance(fields.get("id"), bool):
        # An unusable id: the server takes it for a notification and says nothing.
        due = ["null"] if "method" in fields else []
        if forwarded or [id_of(json.loads(raw)) for raw in answered] != due:
            yield "an unusable id was not answered"
    elif getattr(message, "method", None) == "tools/call":
        if forwarded or answered:
            yield "a tools/call without an id was not dropped"
    elif forwarded != [bare]:
        yield "a notification or an answer was changed or not forwarded"


def main():
    faults, lines = [], 0
    count = {"calls": 0, "stopped": 0}
    for record in sys.stdin:
        sent, forwarded, answered = json.loads(record)
        whole = [bytes.fromhex(sent), [bytes.fromhex(x) for x in forwarded], [bytes.fromhex(x) for x in answered]]
        lines += 1
        for fault in check(*whole, count):
            if len(faults) < 20:
                faults.append({"fault": fault, "sent": repr(whole[0]), "hex": sent, "forwarded": repr(whole[1])[:2000],
                               "answered": repr(whole[2])[:500]})
    print(json.dumps({"lines": lines, "faults": faults, **count}))


sys.setrecursionlimit(10_000)
main()
