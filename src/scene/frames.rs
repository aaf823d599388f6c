//! Frame lists as they are typed: `1001-1120`, `1-100x2`, `1-100:2`, `1,5,10-20`.

use std::collections::BTreeSet;

/// Most frames that a scene may span: over eleven hours at 24 fps, so a larger count is a typing error.
pub const MAX_FRAME_COUNT: i64 = 1_000_000;

/// Frame numbers beyond this do not fit the formats that are written.
const MAX_FRAME: i64 = 1_000_000_000;

/// A parsed frame list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameList {
    /// Lowest frame typed.
    pub first: i64,
    /// Highest frame typed; a step may miss it.
    pub last: i64,
    /// The frames that are meant, ascending, each once.
    pub frames: Vec<i64>,
}

/// Reads a frame list; the error says what is wrong with it.
pub fn parse_frames(text: &str) -> Result<FrameList, String> {
    let ranges = text.split(',').map(parse_range).collect::<Result<Vec<_>, _>>()?;
    let first = ranges.iter().map(|range| range.first).min().unwrap_or(0);
    let last = ranges.iter().map(|range| range.last).max().unwrap_or(0);
    // Before anything is listed, so that a slip of the finger cannot fill the memory.
    if last - first >= MAX_FRAME_COUNT {
        return Err(format!("{first} to {last} are more than {MAX_FRAME_COUNT} frames"));
    }
    let mut frames = BTreeSet::new();
    for range in ranges {
        let mut frame = range.first;
        while frame <= range.last {
            frames.insert(frame);
            frame += range.step;
        }
    }
    Ok(FrameList { first, last, frames: frames.into_iter().collect() })
}

/// The distance of ascending frames if it is the same everywhere; 1 for a single frame.
pub fn uniform_step(frames: &[i64]) -> Option<i64> {
    let step = match frames {
        [first, second, ..] => second.checked_sub(*first)?,
        _ => 1,
    };
    frames.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(step)).then_some(step)
}

struct Range {
    first: i64,
    last: i64,
    step: i64,
}

/// One part between commas.
fn parse_range(part: &str) -> Result<Range, String> {
    let part = part.trim();
    let fault = || format!("`{part}` is not a frame range");
    let (first, rest) = take_number(part).ok_or_else(fault)?;
    let Some(rest) = rest.strip_prefix('-') else {
        return if rest.is_empty() { in_limits(Range { first, last: first, step: 1 }) } else { Err(fault()) };
    };
    let (last, rest) = take_number(rest).ok_or_else(fault)?;
    let step = match rest.strip_prefix(['x', ':']) {
        None if rest.is_empty() => 1,
        None => return Err(fault()),
        Some(step) => match take_number(step) {
            Some((step, "")) if step > 0 => step.min(MAX_FRAME),
            Some((_, "")) => return Err(format!("the step of `{part}` is not positive")),
            _ => return Err(fault()),
        },
    };
    if last < first {
        return Err(format!("the range `{part}` runs backwards"));
    }
    in_limits(Range { first, last, step })
}

fn in_limits(range: Range) -> Result<Range, String> {
    match [range.first, range.last].into_iter().find(|frame| frame.abs() > MAX_FRAME) {
        Some(frame) => Err(format!("frame {frame} is beyond {MAX_FRAME}")),
        None => Ok(range),
    }
}

/// A number with an optional minus sign at the start of `text`, and what follows it; blanks around it are skipped.
fn take_number(text: &str) -> Option<(i64, &str)> {
    let text = text.trim_start();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let digit_count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(text.len() - digits.len() + digit_count);
    // Far too long to be a frame: any number beyond the limits does.
    let number = if digit_count > 15 { i64::MAX } else { number.parse().ok()? };
    Some((number, rest.trim_start()))
}
