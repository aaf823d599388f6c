//! What options of `kiln render` can say.

use std::str::FromStr;

use clap::ValueEnum;

use crate::math::Vec3;
use crate::render::encode::LARGEST;
use crate::render::scene::SAMPLES;

/// Most pixels of one picture: 0.4 GB.
const MOST_PIXELS: usize = 1 << 26;

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub [usize; 2]);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (width, height) = text.split_once(['x', 'X']).ok_or("write it like 1280x720")?;
        let pixels = |text: &str| text.trim().parse::<usize>().map_err(|_| format!("`{text}` is no number of pixels"));
        let size = [pixels(width)?, pixels(height)?];
        match size {
            _ if size.contains(&0) => Err("a picture has at least one pixel".to_owned()),
            _ if size.iter().any(|&pixels| pixels > LARGEST) => {
                Err(format!("at most {LARGEST} pixels fit the formats"))
            }
            [width, height] if width * height > MOST_PIXELS => Err(format!("at most {MOST_PIXELS} pixels in all")),
            size => Ok(Size(size)),
        }
    }
}

/// Where the camera stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CameraChoice {
    /// So that everything is seen.
    Auto,
    /// In this direction [radians], and maybe so far away [m].
    Around([f64; 2], Option<f64>),
    /// Here, looking there.
    At(Vec3, Vec3),
}

fn numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let numbers = text.split(',').map(|number| number.trim().parse::<f64>().ok().filter(|x| x.is_finite()));
    let numbers: Option<Vec<f64>> = numbers.collect();
    numbers.and_then(|numbers| numbers.try_into().ok()).ok_or_else(|| format!("`{text}` are not {N} numbers"))
}

impl FromStr for CameraChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(CameraChoice::Auto);
        }
        if let Some((eye, target)) = text.split_once(':') {
            let (eye, target) = (Vec3::from(numbers::<3>(eye)?), Vec3::from(numbers::<3>(target)?));
            return match (eye - target).norm() > 0.0 {
                true => Ok(CameraChoice::At(eye, target)),
                false => Err("the camera cannot look at its own place".to_owned()),
            };
        }
        let (direction, distance) = match text.split(',').count() {
            2 => (numbers::<2>(text)?, None),
            3 => {
                let [azimuth, elevation, distance] = numbers::<3>(text)?;
                ([azimuth, elevation], Some(distance))
            }
            _ => return Err("write it like 30,15 or 30,15,4 or 0,1,3:0,0.5,0".to_owned()),
        };
        if direction[1].abs() > 90.0 {
            return Err("the elevation is between -90 and 90 degrees".to_owned());
        }
        if distance.is_some_and(|distance| distance <= 0.0) {
            return Err("the distance is positive".to_owned());
        }
        Ok(CameraChoice::Around(direction.map(f64::to_radians), distance))
    }
}

/// A field of view that can be drawn [degrees].
pub fn field_of_view(text: &str) -> Result<f64, String> {
    let degrees: f64 = text.parse().map_err(|_| "this is not a number".to_owned())?;
    if (1.0..=150.0).contains(&degrees) { Ok(degrees) } else { Err("it is between 1 and 150 degrees".to_owned()) }
}

/// Samples of a pixel.
pub fn samples(text: &str) -> Result<u32, String> {
    let count = text.parse().ok().filter(|count| SAMPLES.contains(count));
    count.ok_or_else(|| "there are 1, 4, 8 and 16".to_owned())
}

/// What colours show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Colouring {
    /// Which object it is
    Object,
    /// How far edges are stretched
    Stretch,
    /// How near something else is
    Contact,
    /// How far the volume of a body is off
    Volume,
}

/// What is below everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GroundChoice {
    /// Lines and the shadow
    Lines,
    /// The shadow alone
    Shadow,
    /// Nothing
    None,
}

/// A figure of `frames.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Metric {
    /// Largest stretch of a cloth
    Stretch,
    /// Largest volume error of a soft body
    Volume,
    /// Vertices in contact
    Contacts,
    /// Deepest vertex below a collider's surface
    Penetration,
    /// Edges that pierce a triangle
    Crossings,
    /// What the frame took to simulate
    Seconds,
}

/// Colours at the top and at the bottom, sRGB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Background(pub [[f32; 3]; 2]);

impl FromStr for Background {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let colour = |text: &str| -> Result<[f32; 3], String> {
            let fault = || format!("`{text}` is no colour; write it like #e8ecf0");
            let digits = text.trim().strip_prefix('#').unwrap_or(text.trim());
            if digits.len() != 6 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return Err(fault());
            }
            let number = u32::from_str_radix(digits, 16).map_err(|_| fault())?;
            Ok([16, 8, 0].map(|shift| (number >> shift & 255) as f32 / 255.0))
        };
        match text.split_once(',') {
            Some((upper, lower)) => Ok(Background([colour(upper)?, colour(lower)?])),
            None => Ok(Background([colour(text)?; 2])),
        }
    }
}
