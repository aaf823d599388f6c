//! Text, scales and contact sheets.

use kiln::render::caption::{self, Scale};
use kiln::render::font::{segments, text_width, write};
use kiln::render::look;
use kiln::render::picture::Picture;
use kiln::render::sheet::{Sheet, columns_for};

const WHITE: [f32; 3] = [1.0; 3];

fn written(text: &str, size: f32) -> Picture {
    let mut picture = Picture::new(text_width(text, size) as usize + 8, (2.0 * size) as usize + 8, WHITE);
    write(&mut picture, [4.0, size + 6.0], size, text, [0.0; 3]);
    picture
}

fn ink(picture: &Picture) -> usize {
    (0..picture.height())
        .flat_map(|y| (0..picture.width()).map(move |x| (x, y)))
        .filter(|&(x, y)| picture.pixel(x, y)[0] < 128)
        .count()
}

/// No two letters look alike, and all but blanks leave ink.
#[test]
fn every_letter_is_one_of_its_own() {
    let letters: Vec<char> = (' '..='~').collect();
    let pictures: Vec<Picture> = letters
        .iter()
        .map(|letter| {
            let mut picture = Picture::new(40, 50, WHITE);
            write(&mut picture, [8.0, 32.0], 22.0, &letter.to_string(), [0.0; 3]);
            picture
        })
        .collect();
    for (n, letter) in letters.iter().enumerate() {
        assert_eq!(ink(&pictures[n]) > 0, *letter != ' ', "{letter:?}");
        assert_eq!(segments(*letter).is_empty(), *letter == ' ', "{letter:?}");
        let twin = (0..n).find(|&other| pictures[other] == pictures[n]);
        assert_eq!(twin.map(|other| letters[other]), None, "looks like {letter:?}");
    }
    // What is not known is a box, not nothing.
    assert!(ink(&written("\u{5e03}", 20.0)) > 20);
}

#[test]
fn text_stays_where_its_width_says() {
    for text in ["frame 1024", "stretch 0.97 %", "Wj|_"] {
        let picture = written(text, 12.0);
        let edge = |x: usize| (0..picture.height()).any(|y| picture.pixel(x, y)[0] < 250);
        assert!(!edge(0) && !edge(picture.width() - 1), "{text}");
        assert!(ink(&picture) > 10 * text.len(), "{text}");
    }
    assert!(text_width("88", 10.0) == text_width("11", 10.0), "digits are of one width");
}

#[test]
fn scales_show_their_colours() {
    let mut picture = Picture::new(640, 360, WHITE);
    let colour = |part: f32| look::diverging(2.5 * part - 1.0);
    let marks = [(0.0, "-1 %".to_owned()), (0.8, "1 %".to_owned())];
    caption::legend(&mut picture, &Scale { title: "stretch", colour: &colour, marks: &marks });
    // A row of the bar: blue at the left, white, red, dark red at the right.
    let is_blue = |p: [u8; 3]| i32::from(p[2]) > i32::from(p[0]) + 60;
    let is_red = |p: [u8; 3]| i32::from(p[0]) > i32::from(p[2]) + 60;
    let row = (180..360)
        .find(|&y| (0..320).any(|x| is_blue(picture.pixel(x, y))) && (0..320).any(|x| is_red(picture.pixel(x, y))))
        .unwrap();
    let last_blue = (0..640).rev().find(|&x| is_blue(picture.pixel(x, row))).unwrap();
    let first_red = (0..640).find(|&x| is_red(picture.pixel(x, row))).unwrap();
    assert!(last_blue < first_red, "row {row}: blue up to {last_blue}, red from {first_red}");
    // Too small to be read: left out.
    let mut small = Picture::new(20, 14, WHITE);
    caption::legend(&mut small, &Scale { title: "stretch", colour: &colour, marks: &marks });
    assert_eq!(small, Picture::new(20, 14, WHITE));
}

#[test]
fn sheets_are_filled_in_order() {
    let cell = [50, 30];
    let mut sheet = Sheet::new(5, 3, cell, WHITE);
    for n in 0..5 {
        sheet.add(&Picture::new(50, 30, [n as f32 / 10.0, 0.0, 0.0]));
    }
    let picture = sheet.picture();
    assert_eq!([picture.width(), picture.height()], Sheet::size(5, 3, cell));
    assert_eq!([picture.width(), picture.height()], [152, 61]);
    for n in 0..5 {
        let [x, y] = sheet.place(n);
        assert_eq!([x, y], [51 * (n % 3), 31 * (n / 3)]);
        let red = (25.5 * n as f64).round() as u8;
        for [dx, dy] in [[0, 0], [49, 29]] {
            assert!(picture.pixel(x + dx, y + dy)[0].abs_diff(red) <= 1, "{n}");
        }
    }
    assert_eq!(picture.pixel(50, 10), [255; 3], "a gap");
    assert_eq!(picture.pixel(140, 50), [255; 3], "no sixth picture");
    // Full rows where that is near the shape of a page.
    assert_eq!([1, 2, 4, 9, 12].map(|count| columns_for(count, [320, 240])), [1, 2, 2, 3, 4]);
}
