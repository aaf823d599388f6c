//! "Did you mean ...?"

/// Words less alike than this are not worth a suggestion (Jaro-Winkler; tried on the keys of the scene file).
const LEAST_SIMILARITY: f64 = 0.8;

/// The candidate that was probably meant by `word`.
pub fn suggest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Nobody's typing error is longer, and comparing costs the square of the length.
    if word.len() > 200 {
        return None;
    }
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (similarity(&word, &candidate.to_lowercase()), candidate))
        .filter(|(score, _)| *score >= LEAST_SIMILARITY)
        // Of equals the first, since keys that are needed most stand first.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, candidate)| candidate)
}

/// Likeness from 0 to 1. A word may also stand for a part of a longer name: `strech` for `max_stretch`.
fn similarity(word: &str, candidate: &str) -> f64 {
    let whole = strsim::jaro_winkler(word, candidate);
    let parts = candidate.split('_').map(|part| 0.95 * strsim::jaro_winkler(word, part));
    parts.fold(whole, f64::max)
}

/// A suggestion as a help line, or else all the choices.
pub fn help(word: &str, choices: &[&str]) -> String {
    match suggest(word, choices.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("possible here: {}", quoted(choices)),
    }
}

/// `a`, `b`, `c`
pub fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
