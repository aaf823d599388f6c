//! Files as others read them: Pillow, and the `image` crate.

use std::process::Command;

use kiln::render::encode::{self, MovingPng, MovingWebp};
use kiln::render::picture::Picture;

const SIZE: [usize; 2] = [37, 23];
const FRAMES: usize = 5;

/// A square that wanders over a ramp; in the last two frames it stands still.
fn frame(n: usize) -> Picture {
    let mut picture = Picture::new(SIZE[0], SIZE[1], [0.0; 3]);
    for y in 0..SIZE[1] {
        for x in 0..SIZE[0] {
            picture.put([x, y], 1, &[x as u8 * 5, y as u8 * 9, 40]);
        }
    }
    let at = n.min(FRAMES - 2);
    for (dx, dy) in (0..7).flat_map(|dx| (0..5).map(move |dy| (dx, dy))) {
        picture.put([3 + 5 * at + dx, 2 + 3 * at + dy], 1, &[250, 10 * at as u8, 128]);
    }
    picture
}

fn moving_png() -> Vec<u8> {
    let mut file = Vec::new();
    let mut moving = MovingPng::new(&mut file, frame(0), FRAMES as u32, 24.0).unwrap();
    for n in 1..FRAMES {
        moving.add(frame(n)).unwrap();
    }
    moving.finish().unwrap();
    file
}

fn moving_webp() -> Vec<u8> {
    let mut moving = MovingWebp::new(SIZE, 30.0);
    let chunks: Vec<u8> = (0..FRAMES).flat_map(|n| moving.add(frame(n)).unwrap()).collect();
    let head = moving.head().unwrap();
    assert_eq!(head.len(), MovingWebp::HEAD);
    [head, chunks].concat()
}

/// Everything that Pillow sees, one line a frame: its number, its milliseconds, and its pixels in hexadecimal.
const READER: &str = r#"
import sys
from PIL import Image
image = Image.open(sys.argv[1])
print(image.format, getattr(image, "n_frames", 1), image.info.get("loop"))
for n in range(getattr(image, "n_frames", 1)):
    image.seek(n)
    image.load()
    print(n, image.info.get("duration"), image.convert("RGB").tobytes().hex())
"#;

#[test]
fn pillow_sees_every_pixel_of_every_frame() {
    let python = std::env::var_os("KILN_TEST_PYTHON").expect("tests/run sets KILN_TEST_PYTHON");
    let folder = tempfile::tempdir().unwrap();
    let mut still = Vec::new();
    encode::png(&mut still, &frame(2)).unwrap();
    let files = [
        ("moving.png", moving_png(), "PNG", FRAMES),
        ("moving.webp", moving_webp(), "WEBP", FRAMES),
        ("still.png", still, "PNG", 1),
        ("still.webp", encode::webp(&frame(2)).unwrap(), "WEBP", 1),
    ];
    for (name, content, format, frames) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let output = Command::new(&python).args(["-c", READER]).arg(&path).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let mut lines = text.lines();
        let about: Vec<&str> = lines.next().unwrap().split(' ').collect();
        assert_eq!(about[..2], [format, frames.to_string().as_str()], "{name}");
        if frames > 1 {
            assert_eq!(about[2], "0", "{name} runs for ever");
        }
        let (mut total, mut seen) = (0.0, 0);
        for (n, line) in lines.enumerate() {
            let parts: Vec<&str> = line.split(' ').collect();
            let expected = frame(if frames == 1 { 2 } else { n });
            let hexadecimal: String = expected.pixels().iter().map(|byte| format!("{byte:02x}")).collect();
            assert!(parts[2] == hexadecimal, "{name}: frame {n} has other pixels");
            if frames > 1 {
                total += parts[1].parse::<f64>().unwrap();
            }
            seen += 1;
        }
        assert_eq!(seen, frames);
        let expected = match name {
            "moving.png" => 1000.0 * FRAMES as f64 / 24.0,
            "moving.webp" => (1000.0 * FRAMES as f64 / 30.0).round(),
            _ => 0.0,
        };
        assert!((total - expected).abs() < 0.1, "{name} runs {total} ms instead of {expected}");
    }
}

/// Only what changes is stored.
#[test]
fn moving_pictures_are_smaller_than_their_frames() {
    let stills: usize = (0..FRAMES)
        .map(|n| {
            let mut file = Vec::new();
            encode::png(&mut file, &frame(n)).unwrap();
            file.len()
        })
        .sum();
    assert!(moving_png().len() < stills);
    let same = frame(1);
    assert_eq!(same.difference(&frame(1)), None);
    assert_eq!(frame(0).difference(&frame(1)), Some(([3, 2], [12, 8])));
}
