//! What a bake tells while it runs. Listeners only receive: nothing they do changes the result.

use super::exit::Exit;
use crate::cache::frames_log::FrameRecord;
use crate::scene::{Format, Scene};

/// How far a bake is, in simulated frames (the pre-roll included).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Frames that are done.
    pub done: u64,
    /// Frames in all.
    pub total: u64,
}

impl Position {
    /// Rounded down, so that 100 means all of them.
    pub fn percent(self) -> u64 {
        self.done * 100 / self.total.max(1)
    }
}

/// Listens to a bake.
pub trait Progress: Send {
    /// The simulation starts.
    fn started(&mut self, _scene: &Scene, _total: u64) {}
    /// A frame before the first one is done.
    fn preroll_done(&mut self, _position: Position, _substeps: u32) {}
    /// A frame is done and on the disk.
    fn frame_done(&mut self, _position: Position, _record: &FrameRecord) {}
    /// All frames are stored; these caches are made now.
    fn caches(&mut self, _formats: &[Format]) {}
    /// Something to know about what is written.
    fn note(&mut self, _text: &str) {}
    /// It is over, one way or another; told exactly once, even if the scene could not be read.
    fn finished(&mut self, _exit: Exit) {}
}

/// Nobody listens.
pub struct Silent;

impl Progress for Silent {}
