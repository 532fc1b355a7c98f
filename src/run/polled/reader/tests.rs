use super::*;
use crate::wire::scan::{look, look_ahead};
use std::io::{Write, pipe};

/// The lines that come of `pieces`, which are written one after the other. `hold` keeps every batch, as a
/// writer that is behind does.
fn lines_of(pieces: &[&[u8]], hold: bool) -> Vec<Bytes> {
    let (theirs, ours) = pipe().expect("a pipe");
    lines_from(theirs, ours, pieces, hold, |_| ())
}

/// As that, through this pipe; `meddle` gets the reader before each read.
fn lines_from(
    theirs: impl Into<OwnedFd>,
    ours: impl Write,
    pieces: &[&[u8]],
    hold: bool,
    meddle: impl Fn(&mut Reader),
) -> Vec<Bytes> {
    let mut reader = Reader::new(theirs.into(), Credit::default());
    let (mut lines, mut held) = (Vec::new(), Vec::new());
    let mut pieces = pieces.iter().flat_map(|piece| piece.chunks(CHUNK / 2));
    let mut ours = Some(ours);
    loop {
        match (pieces.next(), &mut ours) {
            (Some(piece), Some(ours)) => ours.write_all(piece).expect("room"),
            _ => ours = None,
        }
        meddle(&mut reader);
        let (batch, open) = reader.read(&mut Vec::new());
        let new = batch.iter().flat_map(|batch| &batch.lines);
        lines.extend(new.map(|line| Bytes::copy_from_slice(line)));
        held.extend(batch.filter(|_| hold));
        if !open {
            return lines;
        }
    }
}

#[test]
fn lines_come_whole_however_they_were_written() {
    let long = vec![b'l'; CHUNK + 7];
    let longer = vec![b'm'; KEEP + 7];
    let all = [b"a", &[][..], &long, b"b", &longer, &longer, b"c", b"last"];
    let mut text = all.join(&b'\n');
    for end in [&b""[..], b"\n"] {
        text.extend_from_slice(end);
        for hold in [false, true] {
            assert!(lines_of(&[&text], hold) == all, "hold: {hold}");
            // Cut around the places where a buffer gives way to another.
            for cut in [1, 2, 3, CHUNK, CHUNK + 9, CHUNK + 10, text.len() - 5] {
                let pieces = [&text[..cut], &text[cut..]];
                assert!(lines_of(&pieces, hold) == all, "hold: {hold}, cut at {cut}");
            }
        }
    }
    assert_eq!(lines_of(&[], false), [&b""[..]; 0]);
    assert_eq!(lines_of(&[b"\n\nx"], true), [&b""[..], b"", b"x"]);
}

#[test]
fn a_long_line_comes_whole_without_a_pipe_of_our_own() {
    let long = [&vec![b'l'; KEEP + 7][..], &vec![b'm'; CHUNK * 3]];
    let text = long.join(&b'\n');
    let lines = |meddle: fn(&mut Reader)| {
        let (theirs, ours) = pipe().expect("a pipe");
        lines_from(theirs, ours, &[&text], false, meddle)
    };
    assert!(lines(|reader| reader.side = None) == long);
    assert!(lines(|reader| reader.side = SidePipe::broken()) == long);
}

/// A pipe whose reader gets a page at once, and no more.
#[cfg(target_os = "linux")]
#[test]
fn a_long_line_comes_whole_in_packets() {
    use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
    let (theirs, ours) = pipe_with(PipeFlags::DIRECT).expect("a pipe");
    fcntl_setpipe_size(&ours, 1 << 20).expect("room for what is not read yet");
    let long = [&vec![b'l'; KEEP + 7][..], &vec![b'm'; CHUNK * 3]];
    let text = long.join(&b'\n');
    let pieces: Vec<&[u8]> = text.chunks(2 * ROOM).collect();
    assert!(lines_from(theirs, std::fs::File::from(ours), &pieces, false, |_| ()) == long);
}

#[test]
fn a_buffer_is_read_into_again_when_its_lines_are_gone() {
    let (theirs, mut ours) = pipe().expect("a pipe");
    let mut reader = Reader::new(theirs.into(), Credit::default());
    let mut read = |byte: u8| {
        let line = [&[byte; COPIED][..], b"\n"].concat();
        ours.write_all(&line).expect("room");
        reader.read(&mut Vec::new()).0.expect("a line")
    };
    let first = read(b'1');
    let place = first.lines[0].as_ptr();
    let second = read(b'2');
    assert_ne!(second.lines[0].as_ptr(), place);
    assert_eq!(&*first.lines[0], [b'1'; COPIED]);
    drop((first, second));
    let third = read(b'3');
    let place = third.lines[0].as_ptr();
    drop(third);
    assert_eq!(read(b'4').lines[0].as_ptr(), place);
}

#[test]
fn what_was_seen_of_a_long_line_comes_with_that_line_alone() {
    let items = vec![r#"{"a":[1.5,true,"b"]}"#; KEEP / 16].join(",");
    let long = format!("{{\"id\":1,\"result\":[{items}]}}\n");
    let wrong = long.replacen("true", "trux", 1);
    assert!(look(wrong.trim_end().as_bytes()).is_err());
    for looks_ahead in [true, false] {
        let (theirs, mut ours) = pipe().expect("a pipe");
        let reader = Reader::new(theirs.into(), Credit::default());
        let mut reader = Reader {
            looks_ahead,
            ..reader
        };
        let mut batches = Vec::new();
        for line in ["{}\n", &long, "{}\n", &long] {
            for piece in line.as_bytes().chunks(CHUNK / 2) {
                ours.write_all(piece).expect("room");
                batches.extend(reader.read(&mut Vec::new()).0);
            }
        }
        let heads: Vec<bool> = batches.iter().map(|batch| batch.head.is_some()).collect();
        assert_eq!(heads, [false, looks_ahead, false, looks_ahead]);
        for head in batches.iter().filter_map(|batch| batch.head.as_deref()) {
            // It went on to the end: the fault at the beginning is not looked at again.
            assert!(look_ahead(wrong.trim_end().as_bytes(), Some(head)).is_ok());
        }
    }
}
