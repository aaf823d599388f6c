//! What the page asks for, made of movies. All numbers are little endian.

use std::ops::Range;

use serde_json::{Value as Json, json};

use crate::bake::movie::{Kind, Movie, MovieObject};
use crate::bake::{Exit, Failure, heat};
use crate::cache::manifest::Status;

/// Vertices of one frame.
type Frame = Vec<Vec<[f32; 3]>>;

/// A movie and the frame that was read last.
pub struct Bake {
    movie: Movie,
    last: Option<(usize, Frame)>,
}

/// A file that is made frame by frame as it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Positions, three f32 a vertex.
    Frames,
    /// How near vertices are to other objects, a byte each.
    Contact,
}

impl Bake {
    /// Of a movie.
    pub fn new(movie: Movie) -> Self {
        Bake { movie, last: None }
    }

    /// The movie.
    pub fn movie(&self) -> &Movie {
        &self.movie
    }

    /// Look whether a bake that is running has come further.
    pub fn refresh(&mut self) -> Result<(), Failure> {
        // The bake may have been started again.
        self.last = None;
        self.movie.refresh()
    }

    /// How far it is.
    pub fn status(&self) -> Json {
        let Movie { status, message, frames, .. } = &self.movie;
        json!({ "status": status, "message": message, "frames": frames })
    }

    /// Everything about it that does not change with frames.
    pub fn describe(&self) -> Json {
        let movie = &self.movie;
        let object = |object: &MovieObject| {
            json!({
                "name": object.name, "kind": object.kind, "vertices": object.rest.len(), "triangles": object.triangles.len(), "faces": object.faces,
                "colour": object.colour, "shown": object.is_shown, "stretch": object.has_lengths, "limit": object.max_stretch,
                "still": object.is_still,
            })
        };
        let thickest =
            |of: fn(Kind) -> bool| movie.objects.iter().filter(|o| of(o.kind)).map(|o| o.thickness).fold(0.0, f64::max);
        let kept = thickest(|kind| kind != Kind::Collider) + thickest(|_| true);
        json!({
            "title": movie.title, "status": movie.status, "message": movie.message, "fps": movie.fps, "frames": movie.frames,
            "planned_frames": movie.planned, "vertex_count": movie.vertex_count(), "bytes_per_frame": 12 * movie.vertex_count(),
            "positions": { "type": "f32" }, "contact_reach": heat::REACH * kept, "gates": movie.gates,
            "objects": movie.objects.iter().map(object).collect::<Vec<_>>(),
        })
    }

    /// Rest positions and triangles of all objects.
    pub fn meshes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for object in &self.movie.objects {
            bytes.extend(object.rest.iter().flatten().flat_map(|x| x.to_le_bytes()));
            bytes.extend(object.triangles.iter().flatten().flat_map(|v| v.to_le_bytes()));
        }
        bytes
    }

    /// The log, one JSON object a line; none of a glTF file.
    pub fn log(&self) -> Result<Option<Vec<u8>>, Failure> {
        if self.movie.status.is_none() {
            return Ok(None);
        }
        let mut lines = Vec::new();
        for record in self.movie.records()? {
            lines.extend(serde_json::to_vec(&record).unwrap_or_default());
            lines.push(b'\n');
        }
        Ok(Some(lines))
    }

    /// How long a stream is now [bytes].
    pub fn stream_length(&self, stream: Stream) -> u64 {
        self.frame_bytes(stream) * self.movie.frames.len() as u64
    }

    /// How long a frame of it is [bytes].
    pub fn frame_bytes(&self, stream: Stream) -> u64 {
        let of_vertex = match stream {
            Stream::Frames => 12,
            Stream::Contact => 1,
        };
        of_vertex * self.movie.vertex_count() as u64
    }

    /// Some bytes of a frame of a stream.
    pub fn stream(&mut self, stream: Stream, place: usize, bytes: Range<usize>) -> Result<Vec<u8>, Failure> {
        let whole = self.frame(place, |movie, frame| match stream {
            Stream::Frames => frame.iter().flatten().flatten().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>(),
            Stream::Contact => contact(movie, frame),
        })?;
        whole.get(bytes).map(<[u8]>::to_vec).ok_or_else(|| {
            let cause = format!("{}: a frame has fewer vertices than it should", self.movie.path.display());
            Failure::new(Exit::InvalidInput, cause, "start the preview again")
        })
    }

    /// Show a frame to `f`.
    pub fn frame<T>(&mut self, place: usize, f: impl FnOnce(&Movie, &Frame) -> T) -> Result<T, Failure> {
        // The bytes of a frame are often asked for in pieces.
        if self.last.as_ref().is_none_or(|(known, _)| *known != place) {
            let mut frame = self.last.take().map(|(_, frame)| frame).unwrap_or_default();
            self.movie.read(place, &mut frame)?;
            self.last = Some((place, frame));
        }
        let (_, frame) = self.last.get_or_insert_default();
        Ok(f(&self.movie, frame))
    }

    /// Whether it may come further.
    pub fn is_running(&self) -> bool {
        self.movie.status == Some(Status::Running)
    }
}

/// Give bakes of the same scene the names of their folders or files, so that they can be told apart.
pub fn tell_apart(bakes: &mut [Bake]) {
    let [first, rest @ ..] = bakes else { return };
    if rest.iter().all(|bake| bake.movie.title != first.movie.title) {
        return;
    }
    let name = |bake: &Bake| bake.movie.path.file_name().map(|name| name.to_string_lossy().into_owned());
    let names: Vec<Option<String>> = bakes.iter().map(name).collect();
    let is_enough = names.windows(2).all(|pair| pair[0] != pair[1]);
    for (bake, name) in bakes.iter_mut().zip(names) {
        bake.movie.title = name.filter(|_| is_enough).unwrap_or_else(|| bake.movie.path.display().to_string());
    }
}

/// How near vertices are to other objects.
pub fn contact(movie: &Movie, frame: &Frame) -> Vec<u8> {
    heat::nearness(&movie.objects, frame).iter().flatten().map(|near| (255.0 * near).round() as u8).collect()
}
