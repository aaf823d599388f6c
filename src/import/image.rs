//! Images as fields of numbers over the UV plane.

use std::io::Cursor;
use std::path::Path;

use image::{DynamicImage, ImageReader, Limits};

use super::InputFile;
use crate::scene::Channel;
use crate::scene::problem::{Place, Problem};

/// Pixels along a side: one channel of the largest image is half a gigabyte.
const MAX_SIDE: u32 = 16_384;

/// Memory that decoding may take, and size of a file: the largest image with four numbers of 16 bits a pixel, and a little more.
const MAX_BYTES: u64 = 8 * (MAX_SIDE as u64).pow(2) + (256 << 20);

/// How bright red, green and blue look (ITU-R BT.709); the stored numbers are taken as they are, as masks mean them.
const LUMINANCE: [f64; 3] = [0.2126, 0.7152, 0.0722];

/// One channel of an image.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    width: usize,
    height: usize,
    /// Row after row from the top; 65535 is 1.
    values: Vec<u16>,
}

/// Read one channel of a PNG or JPEG file.
pub fn read(typed: &str, path: &Path, channel: Channel) -> Result<(Picture, InputFile), Problem> {
    let problem = |message: String| Problem::error(Place::File(path.to_owned()), message);
    let unreadable = |error: std::io::Error| {
        problem(format!("cannot read the image: {error}"))
            .help("check the path and its permissions; relative paths start at the scene file")
    };
    if std::fs::metadata(path).map_err(unreadable)?.len() > MAX_BYTES {
        return Err(problem("the file is too large for an image".to_owned()).help("scale the image down"));
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    let damaged = |error: &dyn std::fmt::Display| {
        problem(format!("cannot read the image: {error}")).help("save it again as PNG or JPEG")
    };
    let reader = || {
        // Files are told apart by what is in them, since names lie.
        let mut reader = ImageReader::new(Cursor::new(&bytes)).with_guessed_format()?;
        let mut limits = Limits::default();
        limits.max_alloc = Some(MAX_BYTES);
        reader.limits(limits);
        Ok::<_, std::io::Error>(reader)
    };
    let (width, height) =
        reader().map_err(|error| damaged(&error))?.into_dimensions().map_err(|error| damaged(&error))?;
    // Before anything is decoded: a small file can claim any size.
    if width > MAX_SIDE || height > MAX_SIDE {
        let message = format!("the image has {width} x {height} pixels, the most are {MAX_SIDE} a side");
        return Err(problem(message).help("scale it down: a map needs no more pixels than the mesh has vertices"));
    }
    let image = reader().map_err(|error| damaged(&error))?.decode().map_err(|error| damaged(&error))?;
    let values = one_channel(&image, channel).ok_or_else(|| damaged(&"its numbers are of an unknown kind"))?;
    Ok((Picture { width: width as usize, height: height as usize, values }, InputFile::new(typed, &bytes)))
}

fn one_channel(image: &DynamicImage, channel: Channel) -> Option<Vec<u16>> {
    let count = usize::from(image.color().channel_count());
    if let Some(flat) = image.as_flat_samples_u8() {
        let value = |pixel: &[u8]| mix(pixel, channel, f64::from(u8::MAX));
        return Some(flat.samples.chunks_exact(count).map(value).collect());
    }
    let flat = image.as_flat_samples_u16()?;
    let value = |pixel: &[u16]| mix(pixel, channel, f64::from(u16::MAX));
    Some(flat.samples.chunks_exact(count).map(value).collect())
}

/// One number of a pixel of 1 (grey), 2 (and opacity), 3 (red, green, blue) or 4 (and opacity) samples.
fn mix<T: Copy + Into<f64>>(pixel: &[T], channel: Channel, white: f64) -> u16 {
    let sample = |k: usize| pixel[k].into() / white;
    let value = match (channel, pixel.len()) {
        (Channel::A, 2 | 4) => sample(pixel.len() - 1),
        (Channel::A, _) => 1.0,
        (Channel::G, 3 | 4) => sample(1),
        (Channel::B, 3 | 4) => sample(2),
        (Channel::Luminance, 3 | 4) => (0..3).map(|k| LUMINANCE[k] * sample(k)).sum(),
        _ => sample(0),
    };
    (value * f64::from(u16::MAX)).round() as u16
}

impl Picture {
    /// The value at a point of the UV plane, 0 to 1: V points up, the image repeats outside of 0 to 1. Between the middles of
    /// pixels it changes evenly; its left and right rims do not mix, nor do top and bottom.
    pub fn at(&self, [u, v]: [f64; 2]) -> f64 {
        // 1 is the far rim, not the near rim of the next copy.
        let inside = |x: f64| if (0.0..=1.0).contains(&x) { x } else { x.rem_euclid(1.0) };
        let place = |x: f64, count: usize| {
            let x = (x * count as f64 - 0.5).clamp(0.0, (count - 1) as f64);
            let low = x as usize;
            (low, (low + 1).min(count - 1), x - low as f64)
        };
        let (left, right, across) = place(inside(u), self.width);
        let (top, bottom, down) = place(1.0 - inside(v), self.height);
        let value = |x: usize, y: usize| f64::from(self.values[y * self.width + x]) / f64::from(u16::MAX);
        let row = |y: usize| value(left, y) + across * (value(right, y) - value(left, y));
        row(top) + down * (row(bottom) - row(top))
    }
}
