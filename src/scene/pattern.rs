//! Names of cache files: `{object}.####` and its dialects (`%04d`, `$F4`, `{frame:04}`).

use super::suggest::suggest;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Object,
    Scene,
    /// With its least number of digits.
    Frame(usize),
}

/// A file name with gaps for the object, the scene and the frame; without an extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    parts: Vec<Part>,
}

/// More digits than this are a typing error.
const MAX_WIDTH: usize = 32;

impl Pattern {
    /// Reads a pattern; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        let text = text.replace('\\', "/");
        check_path(&text)?;
        let mut parts = Vec::new();
        let mut rest = text.as_str();
        while let Some(character) = rest.chars().next() {
            let (part, length) = match take_token(rest)? {
                Some(token) => token,
                None => (Part::Text(character.to_string()), character.len_utf8()),
            };
            rest = &rest[length..];
            match (parts.last_mut(), part) {
                (Some(Part::Text(text)), Part::Text(more)) => text.push_str(&more),
                (_, Part::Frame(width)) if width > MAX_WIDTH => return Err(format!("{width} digits are too many")),
                (_, part) => parts.push(part),
            }
        }
        let pattern = Pattern { parts };
        let name = pattern.file_name("object", "scene", None);
        if name.is_empty() || name.ends_with('/') {
            return Err("the file name needs more than a frame number".to_owned());
        }
        Ok(pattern)
    }

    /// Whether every frame gets its own name.
    pub fn has_frame(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Frame(_)))
    }

    /// Whether every object gets its own name.
    pub fn has_object(&self) -> bool {
        self.parts.contains(&Part::Object)
    }

    /// The name, with `/` between folders. Without a frame (one file for all of them) its place is closed up,
    /// together with one separator beside it.
    pub fn file_name(&self, object: &str, scene: &str, frame: Option<i64>) -> String {
        let mut name = String::new();
        let mut skip_separator = false;
        for part in &self.parts {
            match (part, frame) {
                (Part::Frame(width), Some(frame)) => {
                    let sign = if frame < 0 { "-" } else { "" };
                    let width = width.saturating_sub(sign.len());
                    name.push_str(&format!("{sign}{:0width$}", frame.unsigned_abs()));
                }
                (Part::Frame(_), None) => match name.strip_suffix(SEPARATORS).map(str::len) {
                    Some(length) => name.truncate(length),
                    None => skip_separator = true,
                },
                (Part::Text(text), _) if skip_separator => {
                    name.push_str(text.strip_prefix(SEPARATORS).unwrap_or(text));
                    skip_separator = false;
                }
                (Part::Text(text), _) => name.push_str(text),
                (Part::Object, _) => name.push_str(object),
                (Part::Scene, _) => name.push_str(scene),
            }
        }
        name
    }
}

const SEPARATORS: [char; 3] = ['.', '_', '-'];

/// Caches stay in the job's folder, under names that every system accepts.
fn check_path(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("the pattern is empty".to_owned());
    }
    if text.starts_with('/') || text.get(1..2) == Some(":") {
        return Err("the pattern is an absolute path".to_owned());
    }
    if text.split('/').any(|folder| folder == "..") {
        return Err("the pattern leaves the job's folder".to_owned());
    }
    match text.chars().find(|c| c.is_control() || r#"<>"|?*"#.contains(*c)) {
        Some(character) => Err(format!("`{}` cannot be part of a file name", character.escape_default())),
        None => Ok(()),
    }
}

/// A token at the start of `text` and its length; `None` if plain text starts there.
fn take_token(text: &str) -> Result<Option<(Part, usize)>, String> {
    let count = |text: &str, wanted: fn(char) -> bool| text.chars().take_while(|c| wanted(*c)).count();
    if text.starts_with('#') {
        let width = count(text, |c| c == '#');
        return Ok(Some((Part::Frame(width), width)));
    }
    if let Some(rest) = text.strip_prefix('%') {
        let digits = count(rest, |c| c.is_ascii_digit());
        let found = rest[digits..].starts_with('d');
        return Ok(found.then(|| (Part::Frame(width(&rest[..digits])), digits + 2)));
    }
    if let Some(rest) = text.strip_prefix("$F") {
        let digits = count(rest, |c| c.is_ascii_digit());
        return Ok(Some((Part::Frame(width(&rest[..digits])), digits + 2)));
    }
    let Some(rest) = text.strip_prefix('{') else {
        return if text.starts_with('}') { Err("`}` closes nothing".to_owned()) } else { Ok(None) };
    };
    let Some(end) = rest.find('}') else {
        return Err("`{` is not closed".to_owned());
    };
    let name = &rest[..end];
    let part = match name {
        "object" => Part::Object,
        "scene" => Part::Scene,
        "frame" => Part::Frame(1),
        _ => match name.strip_prefix("frame:") {
            Some(digits) if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
                Part::Frame(width(digits))
            }
            _ => {
                let near = suggest(name, ["object", "scene", "frame"]);
                let hint = near.map(|near| format!("; did you mean `{{{near}}}`?")).unwrap_or_default();
                return Err(format!("unknown token `{{{name}}}`{hint}"));
            }
        },
    };
    Ok(Some((part, end + 2)))
}

/// `04` and `4` both ask for four digits.
fn width(digits: &str) -> usize {
    if digits.is_empty() { 1 } else { digits.parse::<usize>().unwrap_or(usize::MAX).max(1) }
}
