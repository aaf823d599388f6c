//! Input that nobody means: it is refused with a message, never with a panic, an overflow or a long wait.

use std::time::{Duration, Instant};

use crate::{SHORT, plain, read, read_set};

fn refuse(name: &str, text: &str) {
    let start = Instant::now();
    let failure = read(text).expect_err(name);
    assert!(!failure.problems.is_empty(), "{name}");
    let rendered = plain(&failure);
    assert!(rendered.contains("error: ") && !rendered.contains("Error:"), "{name}: {rendered}");
    assert!(start.elapsed() < Duration::from_secs(20), "{name} took {:?}", start.elapsed());
}

#[test]
fn nonsense_is_refused() {
    let many = 100_000;
    let dotted = format!("{}x", "a.".repeat(75));
    let cases = [
        ("empty", String::new()),
        ("zeros", "\0".repeat(1000)),
        ("only a mark", "\u{feff}".to_owned()),
        ("marks", "\u{feff}\u{feff}[scene]".to_owned()),
        ("carriage returns", "\r\r\r".to_owned()),
        ("a duplicate key", format!("{SHORT}bend = 1\nbend = 2\n")),
        ("a duplicate table", format!("{SHORT}[scene]\n")),
        ("a table over an array", format!("{SHORT}[cloth]\n")),
        ("nan", format!("{SHORT}bend = nan\n")),
        ("a huge whole number", format!("{SHORT}bend = {}\n", "9".repeat(many))),
        ("a huge number", format!("{SHORT}bend = 1e{}\n", "9".repeat(many))),
        ("a long key", format!("{SHORT}{} = 1\n", "k".repeat(many))),
        ("a long string", format!("{SHORT}fabric = \"{}\"\n", "k".repeat(many))),
        ("a long name", SHORT.replace("flag", &"k".repeat(many))),
        ("an escape in a name", SHORT.replace("flag", "\\u001b[31m")),
        ("brackets", "[".repeat(many)),
        ("braces", format!("a = {}", "{".repeat(many))),
        ("nested arrays", format!("a = {}1{}", "[".repeat(many), "]".repeat(many))),
        ("allowed nesting", format!("{SHORT}pins = {}1{}", "[".repeat(70), "]".repeat(70))),
        ("nested tables", format!("a = {}", "{a = ".repeat(many))),
        (
            "dotted keys in tables",
            format!("{}1{}", format!("{dotted} = {{").repeat(75) + &dotted + " = ", "}".repeat(75)),
        ),
        ("a dotted header", format!("[{}x]\n", "a.".repeat(many))),
        ("many unknown keys", (0..many).map(|index| format!("k{index} = 1\n")).collect()),
        ("many tables", format!("{SHORT}{}", "[[cloth]]\n".repeat(many))),
        ("many errors", "=\n".repeat(many)),
        ("many errors in one line", "= ".repeat(many)),
        ("an open array", format!("a = [1,\n{}", "b = 1\n".repeat(many))),
        ("an open string", format!("a = \"\"\"{}", "b = 1\n".repeat(many))),
        ("a dozen suggestions", format!("{SHORT}{}", "[[collider]]\nshpae = \"shpere\"\n".repeat(1000))),
    ];
    for (name, text) in &cases {
        refuse(name, text);
    }
}

#[test]
fn every_truncation_is_refused_or_read() {
    let text = format!(
        "{SHORT}pins = [{{ group = \"ä\", follow.rotate = {{ keys = [[1, [0, 0, 0]]] }} }}]\n[wind]\nspeed = 1e0\n"
    );
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        if let Err(failure) = read(&text[..end]) {
            assert!(plain(&failure).contains("error: "));
        }
        // The same with a byte of nonsense in the middle.
        for nonsense in ["\0", "=", "\"", "[", "}", "é", "9", "-", "\n", "'''", "#", "\\"] {
            if let Err(failure) = read(&format!("{}{nonsense}{}", &text[..end], &text[end..])) {
                assert!(plain(&failure).contains("error: "));
            }
        }
    }
}

#[test]
fn arguments_are_refused_too() {
    let deep = format!("wind.speed={}", "[".repeat(100_000));
    let nested = format!("wind.speed={}1{}", "[".repeat(70), "]".repeat(70));
    let dotted = format!("{}x=1", "a.".repeat(100_000));
    let arguments = [
        "",
        "=",
        "==",
        ".",
        ".=",
        "a=",
        "a.=1",
        "wind=\0",
        "cloth=1",
        "cloth.=1",
        "scene=",
        "wind.speed=ä",
        &deep,
        &nested,
        &dotted,
    ];
    for argument in arguments {
        let failure = read_set(SHORT, &[argument]).expect_err(argument);
        assert!(plain(&failure).contains("--set:1:"), "{argument}");
    }
}
