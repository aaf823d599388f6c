//! How a bake is followed: a bar for people, lines for farms, JSON for programs.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value as Json, json};

use super::terminal::{log, progress_line};
use crate::bake::Exit;
use crate::bake::progress::{Position, Progress};
use crate::cache::frames_log::FrameRecord;
use crate::scene::{Format, Scene};

/// The ways to follow a bake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Style {
    /// A bar on a terminal, else plain lines
    Auto,
    /// A bar with the remaining time, on standard error
    Bar,
    /// One line a frame, on standard output
    Plain,
    /// One JSON object a line, on standard output
    Json,
    /// Nothing
    None,
}

/// The listener of a style.
pub fn listener(style: Style) -> Box<dyn Progress> {
    match style {
        Style::Auto if stderr().is_terminal() => Box::new(Bar::new()),
        Style::Bar => Box::new(Bar::new()),
        Style::Auto | Style::Plain => Box::new(Plain { range: String::new() }),
        Style::Json => Box::new(JsonLines { start: Instant::now() }),
        Style::None => Box::new(Quiet),
    }
}

/// The largest stretch of all cloths in a frame.
fn worst_stretch(record: &FrameRecord) -> f64 {
    let cloths = record.objects.iter().filter(|object| object.max_volume_error.is_none());
    cloths.map(|object| object.max_stretch).fold(0.0, f64::max)
}

/// No progress, but the log goes on.
struct Quiet;

impl Progress for Quiet {
    fn note(&mut self, text: &str) {
        log(text);
    }
}

struct Plain {
    /// As people write it.
    range: String,
}

impl Progress for Plain {
    fn note(&mut self, text: &str) {
        log(text);
    }

    fn started(&mut self, scene: &Scene, _total: u64) {
        self.range = format!("{}-{}", scene.first_frame, scene.last_frame);
    }

    fn preroll_done(&mut self, position: Position, substeps: u32) {
        progress_line(&format!("Progress: {}% pre-roll {}, {substeps} substeps", position.percent(), position.done));
    }

    fn frame_done(&mut self, position: Position, record: &FrameRecord) {
        progress_line(&format!(
            "Progress: {}% frame {} of {}, {:.2} s, {} substeps, stretch {:.2} %",
            position.percent(),
            record.frame,
            self.range,
            record.seconds,
            record.substeps,
            100.0 * worst_stretch(record)
        ));
    }
}

struct JsonLines {
    start: Instant,
}

impl JsonLines {
    fn event(&self, event: &Json) {
        // The same text for a reader of JSON, but not the word that makes farms fail a task.
        progress_line(&event.to_string().replace("ERROR", "\\u0045RROR").replace("Error:", "\\u0045rror:"));
    }
}

impl Progress for JsonLines {
    fn note(&mut self, text: &str) {
        log(text);
    }

    fn started(&mut self, scene: &Scene, total: u64) {
        self.event(&json!({
            "event": "started",
            "scene": scene.name,
            "first_frame": scene.first_frame,
            "last_frame": scene.last_frame,
            "preroll": scene.lead_in(),
            "total": total,
        }));
    }

    fn preroll_done(&mut self, position: Position, substeps: u32) {
        let Position { done, total } = position;
        let percent = position.percent();
        self.event(&json!({
            "event": "preroll", "percent": percent, "done": done, "total": total, "substeps": substeps,
        }));
    }

    fn frame_done(&mut self, position: Position, record: &FrameRecord) {
        self.event(&json!({
            "event": "frame",
            "frame": record.frame,
            "percent": position.percent(),
            "done": position.done,
            "total": position.total,
            "seconds": record.seconds,
            "substeps": record.substeps,
            "iterations": record.iterations,
            "written": record.written,
            "max_stretch": worst_stretch(record),
        }));
    }

    fn caches(&mut self, formats: &[Format]) {
        self.event(&json!({ "event": "caches", "formats": formats }));
    }

    fn finished(&mut self, exit: Exit) {
        self.event(&json!({
            "event": "finished",
            "exit_code": exit.number(),
            "exit_name": exit.name(),
            "seconds": self.start.elapsed().as_secs_f64(),
        }));
    }
}

struct Bar {
    bar: ProgressBar,
}

impl Bar {
    fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3}% {msg}, {eta} left") {
            bar.set_style(style);
        }
        Bar { bar }
    }
}

impl Progress for Bar {
    fn note(&mut self, text: &str) {
        self.bar.suspend(|| log(text));
    }

    fn started(&mut self, _scene: &Scene, total: u64) {
        self.bar.set_length(total);
        self.bar.set_message("starting");
        // So that the time runs on during a long frame.
        self.bar.enable_steady_tick(Duration::from_millis(500));
    }

    fn preroll_done(&mut self, position: Position, _substeps: u32) {
        self.bar.set_position(position.done);
        self.bar.set_message(format!("pre-roll {}", position.done));
    }

    fn frame_done(&mut self, position: Position, record: &FrameRecord) {
        let stretch = 100.0 * worst_stretch(record);
        let (frame, substeps) = (record.frame, record.substeps);
        self.bar.set_position(position.done);
        self.bar.set_message(format!("frame {frame}, {substeps} substeps, stretch {stretch:.2} %"));
    }

    fn caches(&mut self, _formats: &[Format]) {
        self.bar.set_message("writing caches");
    }

    fn finished(&mut self, _exit: Exit) {
        self.bar.finish_and_clear();
    }
}
