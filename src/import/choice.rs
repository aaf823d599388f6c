//! Which of the objects of a file is meant.

/// Why an object could not be chosen.
#[derive(Debug)]
pub struct Choice {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// At most a dozen names, quoted.
pub fn list(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(12).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(12);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}
