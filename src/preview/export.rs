//! The page with everything in it: one file to mail, which needs no server and no network.
//!
//! Positions are rounded to steps of a grid that is common to all frames and written as differences to the frame before, a half to a quarter as
//! large; everything is compressed with gzip, which browsers unpack.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use super::content::{Bake, contact};
use super::page;
use crate::bake::movie::Movie;
use crate::bake::{Exit, Failure, heat};

/// What is left out of an exported page.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    /// Every so many frames one is kept, and the last one.
    pub every: usize,
    /// How far positions may be off at most [m]; coarser where 16 bits do not hold it. None: so far that colours by stretch stay right.
    pub precision: Option<f64>,
    /// Whether it can be coloured by contact: a byte a vertex and frame.
    pub contact: bool,
}

/// An exported page.
pub struct Exported {
    /// The document.
    pub html: String,
    /// Frames of each bake.
    pub frames: Vec<usize>,
    /// How far positions are off at most [m].
    pub largest_error: f64,
    /// How far stretch, worked out from such positions, is off at most, where that shows in colours.
    pub stretch_error: Option<f64>,
}

/// How far positions may be off where nobody looks for stretch [m].
const USUAL_PRECISION: f64 = 0.0002;
/// How far stretch may be off, in parts of its scale.
const STRETCH_PART: f64 = 0.1;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let all = chunk.iter().enumerate().fold(0_u32, |all, (n, byte)| all | u32::from(*byte) << (16 - 8 * n));
        for n in 0..4 {
            let letter = ALPHABET[(all >> (18 - 6 * n) & 63) as usize];
            text.push(if n <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// A script element with compressed bytes in it.
fn element(id: &str, bytes: &[u8]) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Memory takes everything.
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default();
    format!("<script type=\"text/plain\" id=\"{id}\">{}</script>\n", base64(&packed))
}

/// One page of all these bakes.
pub fn export(bakes: &mut [Bake], reduction: &Reduction) -> Result<Exported, Failure> {
    let (mut data, mut described) = (String::new(), Vec::new());
    let mut exported = Exported { html: String::new(), frames: Vec::new(), largest_error: 0.0, stretch_error: None };
    for (number, bake) in bakes.iter_mut().enumerate() {
        let count = bake.movie().frames.len();
        let mut places: Vec<usize> = (0..count).step_by(reduction.every.max(1)).collect();
        if let Some(last) = count.checked_sub(1).filter(|last| places.last() != Some(last)) {
            places.push(last);
        }
        let (low, high) = extent(bake, &places)?;
        let size = (0..3).map(|axis| f64::from(high[axis]) - f64::from(low[axis])).fold(0.0, f64::max);
        let measured = Measured::of(bake.movie());
        let fit = measured.iter().map(Measured::precision).fold(USUAL_PRECISION, f64::min);
        // Off by half a step at most along each axis.
        let step = 2.0 / 3.0_f64.sqrt() * reduction.precision.unwrap_or(fit);
        let step = step.max(size / f64::from(u16::MAX)).max(f64::MIN_POSITIVE);
        if !step.is_finite() {
            return Err(Failure::new(Exit::InvalidInput, "positions cannot be rounded that much", "lower --precision"));
        }
        let error = 0.5 * 3.0_f64.sqrt() * step;
        exported.largest_error = exported.largest_error.max(error);
        if error > fit * (1.0 + 1e-9) {
            let errors =
                measured.iter().filter(|measured| error > measured.precision()).map(|m| m.stretch_error(error));
            exported.stretch_error = errors.chain(exported.stretch_error).reduce(f64::max);
        }
        let mut text = bake.describe();
        // Where nothing keeps a distance, nothing is near.
        let has_contact = reduction.contact && text["contact_reach"].as_f64().is_some_and(|reach| reach > 0.0);
        let (mut positions, mut near) = (Vec::new(), Vec::new());
        let mut before = vec![0_u16; 3 * bake.movie().vertex_count()];
        for &place in &places {
            bake.frame(place, |movie, frame| {
                for (point, before) in frame.iter().flatten().zip(before.as_chunks_mut::<3>().0) {
                    for axis in 0..3 {
                        let value = ((f64::from(point[axis]) - f64::from(low[axis])) / step).round() as u16;
                        positions.extend(value.wrapping_sub(before[axis]).to_le_bytes());
                        before[axis] = value;
                    }
                }
                if has_contact {
                    near.extend(contact(movie, frame));
                }
            })?;
        }
        text["frames"] = json!(places.iter().map(|&place| bake.movie().frames[place]).collect::<Vec<_>>());
        text["bytes_per_frame"] = json!(6 * bake.movie().vertex_count());
        text["positions"] = json!({ "type": "u16", "low": low, "step": step });
        text["fps"] = json!(bake.movie().fps);
        if bake.is_running() {
            text["message"] = json!("this page was made while the bake was running");
            text["status"] = json!("failed");
        }
        described.push(text);
        data += &element(&format!("kiln-{number}-meshes"), &bake.meshes());
        data += &element(&format!("kiln-{number}-frames"), &positions);
        if has_contact {
            data += &element(&format!("kiln-{number}-contact"), &near);
        }
        if let Some(log) = bake.log()? {
            data += &element(&format!("kiln-{number}-log"), &log);
        }
        exported.frames.push(places.len());
    }
    let scene = json!({ "exported": true, "bakes": described }).to_string();
    // What is in a script ends with the first thing that looks like its end.
    let scene = scene.replace('<', "\\u003c");
    let scene = format!("<script type=\"application/json\" id=\"kiln-scene\">{scene}</script>\n");
    exported.html = page(&(scene + &data));
    Ok(exported)
}

/// An object whose stretch can be seen.
struct Measured {
    /// Its shortest side at rest [m].
    shortest: f64,
    /// What its colours are a scale of.
    limit: f64,
}

impl Measured {
    /// Those of a movie. Without a limit the scale would be what the log says, which is known after the bake and not to be counted on.
    fn of(movie: &Movie) -> Vec<Measured> {
        let objects = movie.objects.iter().filter(|object| object.has_lengths);
        let measured = objects.filter_map(|object| {
            let limit = object.max_stretch.filter(|limit| *limit > 0.0)?;
            let length = |[a, b]: [u32; 2]| {
                let [a, b] = [a, b].map(|v| object.rest[v as usize].map(f64::from));
                (0..3).map(|axis| (b[axis] - a[axis]).powi(2)).sum::<f64>().sqrt()
            };
            // What has no length has no stretch.
            let lengths = heat::polygon_edges(object).into_iter().map(length).filter(|length| *length > 0.0);
            Some(Measured { shortest: lengths.reduce(f64::min)?, limit })
        });
        measured.collect()
    }

    /// How far its vertices may be off [m].
    fn precision(&self) -> f64 {
        STRETCH_PART * self.limit * self.shortest / (2.0 * 3.0_f64.sqrt())
    }

    /// How far its stretch is off if both ends of a side are off by this much.
    fn stretch_error(&self, error: f64) -> f64 {
        2.0 * error / self.shortest
    }
}

/// The box around everything in some frames.
fn extent(bake: &mut Bake, places: &[usize]) -> Result<([f32; 3], [f32; 3]), Failure> {
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for &place in places {
        bake.frame(place, |movie, frame| {
            for (object, points) in movie.objects.iter().zip(frame) {
                for point in points {
                    if !point.iter().all(|x| x.is_finite()) {
                        let (path, number) = (movie.path.display(), movie.frames[place]);
                        let cause =
                            format!("{path}: frame {number} of `{}` has a place that is not finite", object.name);
                        return Err(Failure::new(Exit::InvalidInput, cause, "bake it again, or repair the file"));
                    }
                    for axis in 0..3 {
                        low[axis] = low[axis].min(point[axis]);
                        high[axis] = high[axis].max(point[axis]);
                    }
                }
            }
            Ok(())
        })??;
    }
    Ok(if places.is_empty() { ([0.0; 3], [0.0; 3]) } else { (low, high) })
}
