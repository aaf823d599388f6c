//! Pictures as files: PNG and WebP, still and moving. All of them are lossless.
//!
//! A moving picture stores of each frame only the rectangle that differs from the one before.

use std::io::{self, Write};

use image_webp::{ColorType as WebpColour, WebPEncoder};
use png::{BitDepth, BlendOp, ColorType, DisposeOp, Encoder, SrgbRenderingIntent, Writer};

use super::picture::Picture;

/// Pictures as wide or high as this fit all formats.
pub const LARGEST: usize = 16_383;

fn png_error(error: png::EncodingError) -> io::Error {
    match error {
        png::EncodingError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

fn png_encoder<W: Write>(to: W, picture: &Picture) -> Encoder<'static, W> {
    let mut encoder = Encoder::new(to, picture.width() as u32, picture.height() as u32);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_source_srgb(SrgbRenderingIntent::Perceptual);
    encoder
}

/// Writes a picture as PNG.
pub fn png<W: Write>(to: W, picture: &Picture) -> io::Result<()> {
    let mut writer = png_encoder(to, picture).write_header().map_err(png_error)?;
    writer.write_image_data(picture.pixels()).map_err(png_error)?;
    writer.finish().map_err(png_error)
}

/// How long each frame is shown, as a fraction of seconds that fits the format: exact for whole rates and those of television.
fn delay(fps: f64) -> (u16, u16) {
    let near = |x: f64| (x - x.round()).abs() < 1e-6 * x && x.round() >= 1.0 && x.round() <= 65_535.0;
    for numerator in [1_u16, 1001, 2, 3, 4, 5, 10, 100] {
        let denominator = fps * f64::from(numerator);
        if near(denominator) {
            return (numerator, denominator.round() as u16);
        }
    }
    ((10_000.0 / fps).round().clamp(1.0, 65_535.0) as u16, 10_000)
}

/// A moving PNG that is written frame by frame.
pub struct MovingPng<W: Write> {
    writer: Writer<W>,
    last: Option<Picture>,
}

impl<W: Write> MovingPng<W> {
    /// Starts one with its first frame; it runs for ever.
    pub fn new(to: W, first: Picture, frames: u32, fps: f64) -> io::Result<Self> {
        let mut encoder = png_encoder(to, &first);
        let (numerator, denominator) = delay(fps);
        encoder.set_animated(frames, 0).map_err(png_error)?;
        encoder.set_frame_delay(numerator, denominator).map_err(png_error)?;
        encoder.set_blend_op(BlendOp::Source).map_err(png_error)?;
        encoder.set_dispose_op(DisposeOp::None).map_err(png_error)?;
        let mut writer = encoder.write_header().map_err(png_error)?;
        writer.write_image_data(first.pixels()).map_err(png_error)?;
        Ok(MovingPng { writer, last: Some(first) })
    }

    /// Adds the next frame.
    pub fn add(&mut self, picture: Picture) -> io::Result<()> {
        let ([left, top], size) = changed(self.last.as_ref(), &picture);
        let part = picture.part([left, top], size);
        let writer = &mut self.writer;
        let place = |writer: &mut Writer<W>| -> Result<(), png::EncodingError> {
            writer.reset_frame_position()?;
            writer.set_frame_dimension(size[0] as u32, size[1] as u32)?;
            writer.set_frame_position(left as u32, top as u32)?;
            writer.write_image_data(part.pixels())
        };
        place(writer).map_err(png_error)?;
        self.last = Some(picture);
        Ok(())
    }

    /// Ends the file.
    pub fn finish(self) -> io::Result<()> {
        self.writer.finish().map_err(png_error)
    }
}

/// What has to be drawn over the last picture; something in any case.
fn changed(last: Option<&Picture>, picture: &Picture) -> ([usize; 2], [usize; 2]) {
    match last {
        None => ([0; 2], [picture.width(), picture.height()]),
        Some(last) => picture.difference(last).unwrap_or(([0; 2], [1; 2])),
    }
}

/// A picture as the whole content of a WebP file.
pub fn webp(picture: &Picture) -> io::Result<Vec<u8>> {
    let mut file = Vec::new();
    WebPEncoder::new(&mut file)
        .encode(picture.pixels(), picture.width() as u32, picture.height() as u32, WebpColour::Rgb8)
        .map_err(io::Error::other)?;
    Ok(file)
}

/// Before the name of the first chunk of a WebP file.
const RIFF_BYTES: usize = 12;

/// A moving WebP: its frames, and the head of its file, which is known when all frames are.
pub struct MovingWebp {
    size: [usize; 2],
    fps: f64,
    last: Option<Picture>,
    frames: u64,
    bytes: u64,
}

impl MovingWebp {
    /// Length of the head.
    pub const HEAD: usize = RIFF_BYTES + 8 + 10 + 8 + 6;

    /// Without frames.
    pub fn new(size: [usize; 2], fps: f64) -> Self {
        MovingWebp { size, fps, last: None, frames: 0, bytes: 0 }
    }

    /// What the file goes on with for the next frame.
    pub fn add(&mut self, picture: Picture) -> io::Result<Vec<u8>> {
        let ([left, top], [width, height]) = changed(self.last.as_ref(), &picture);
        // Places are stored halved.
        let (left, top, width, height) = (left & !1, top & !1, width + (left & 1), height + (top & 1));
        let file = webp(&picture.part([left, top], [width, height]))?;
        let image = &file[RIFF_BYTES..];
        // Rounded so that they add up.
        let at = |frame: u64| (1000.0 * frame as f64 / self.fps).round() as u64;
        let milliseconds = (at(self.frames + 1) - at(self.frames)).min(0xff_ffff) as usize;
        let mut chunk = b"ANMF".to_vec();
        chunk.extend((16 + image.len() as u32).to_le_bytes());
        for number in [left / 2, top / 2, width - 1, height - 1, milliseconds] {
            chunk.extend(&(number as u32).to_le_bytes()[..3]);
        }
        chunk.push(0b10); // drawn over the last one, nothing is mixed
        chunk.extend(image);
        self.last = Some(picture);
        self.frames += 1;
        self.bytes += chunk.len() as u64;
        Ok(chunk)
    }

    /// The start of the file; none if it is longer than the format allows.
    pub fn head(&self) -> Option<Vec<u8>> {
        let length = u32::try_from(Self::HEAD as u64 - 8 + self.bytes).ok().filter(|length| *length < u32::MAX - 16)?;
        let mut head = b"RIFF".to_vec();
        head.extend(length.to_le_bytes());
        head.extend(b"WEBPVP8X");
        head.extend(10_u32.to_le_bytes());
        head.extend([0b10, 0, 0, 0]); // it moves
        for pixels in self.size {
            head.extend(&(pixels as u32 - 1).to_le_bytes()[..3]);
        }
        head.extend(b"ANIM");
        head.extend(6_u32.to_le_bytes());
        head.extend([0xff; 4]); // background
        head.extend([0; 2]); // runs for ever
        Some(head)
    }
}
