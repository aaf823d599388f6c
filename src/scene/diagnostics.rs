//! Problems as text for people: the line, what is wrong in it underlined, and what to do.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet, normalize_untrusted_str};

use super::document::Document;
use super::problem::{Place, Problem, Severity, Span};

/// Nobody reads more at once.
pub(super) const MAX_SHOWN: usize = 50;

/// Lines longer than this are named, not shown.
const MAX_LINE_LENGTH: usize = 4000;

/// Renders problems, one after the other; styled for terminals, or as plain text for logs.
pub fn render(problems: &[Problem], document: Option<&Document>, styled: bool) -> String {
    let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
    let mut blocks: Vec<String> =
        problems.iter().take(MAX_SHOWN).map(|problem| render_one(problem, document, &renderer)).collect();
    if problems.len() > MAX_SHOWN {
        blocks.push(format!("... and {} more", problems.len() - MAX_SHOWN));
    }
    // Farm software stops a task that prints this word, wherever it came from.
    blocks.join("\n\n").replace("Error:", "error:") + "\n"
}

fn render_one(problem: &Problem, document: Option<&Document>, renderer: &Renderer) -> String {
    let level = match problem.severity {
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let mut group = level.primary_title(normalize_untrusted_str(&problem.message)).elements(None::<Origin<'_>>);
    group = match &problem.place {
        Place::File(path) => group.element(Origin::path(path.display().to_string())),
        Place::Line(path, line) => group.element(Origin::path(path.display().to_string()).line(*line)),
        place => match document.and_then(|document| Some((document, document.span(place)?))) {
            Some((document, span)) => show(group, document, &span),
            None => group,
        },
    };
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(normalize_untrusted_str(help)));
    }
    renderer.render(&[group])
}

/// Adds the line of a span, underlined; of longer spans, their first line.
fn show<'a>(group: Group<'a>, document: &'a Document, span: &Span) -> Group<'a> {
    let Some(source) = document.source(span.source) else {
        return group;
    };
    let text = source.text.as_str();
    let start = floor_boundary(text, span.range.start);
    let end = floor_boundary(text, span.range.end).max(start);
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    // A byte order mark is no part of the first line.
    let line_start = if text[line_start..start].starts_with('\u{feff}') { line_start + 3 } else { line_start };
    let line_end = text[start..].find('\n').map_or(text.len(), |length| start + length);
    let line = text[line_start..line_end].trim_end_matches('\r');
    let line_number = text[..start].matches('\n').count() + 1;
    if line.len() > MAX_LINE_LENGTH {
        let column = text[line_start..start].chars().count() + 1;
        return group.element(Origin::path(source.name.as_str()).line(line_number).char_column(column));
    }
    let range = (start - line_start).min(line.len())..(end - line_start).min(line.len());
    let snippet = Snippet::source(line).path(source.name.as_str()).line_start(line_number);
    group.element(snippet.annotation(AnnotationKind::Primary.span(range)))
}

/// The last character boundary at or before a byte.
fn floor_boundary(text: &str, index: usize) -> usize {
    (0..=index.min(text.len())).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0)
}
