//! Pictures and the viewer's page look alike: the page has the same colours, and stands at the same place.

use kiln::render::look;

const SCRIPTS: [&str; 4] = [
    include_str!("../../src/preview/page/drawing.js"),
    include_str!("../../src/preview/page/elements.js"),
    include_str!("../../src/preview/page/camera.js"),
    include_str!("../../src/preview/page/geometry.js"),
];

/// All `[a, b, c]` and `vec3(a, b, c)` of the page.
fn triples() -> Vec<[f32; 3]> {
    let mut triples = Vec::new();
    for part in SCRIPTS.iter().flat_map(|script| script.split(['[', '(']).skip(1)) {
        let inside = part.split([']', ')']).next().unwrap();
        let numbers: Vec<f32> = inside.split(',').filter_map(|number| number.trim().parse().ok()).collect();
        if let Ok(triple) = numbers.try_into() {
            triples.push(triple);
        }
    }
    triples
}

#[test]
fn the_page_has_the_same_colours() {
    let triples = triples();
    assert!(triples.len() > 15, "{triples:?}");
    let upper_and_lower = look::BACKGROUND.map(|colour| colour.map(|part| 255.0 * part));
    let single = [look::TOWARDS_LIGHT, look::SKY, look::BOUNCE, look::KEY, look::GRID, look::SHADOW, look::NEUTRAL];
    let colours = [&single[..], &look::HEAT, &look::CONTACT, &upper_and_lower].concat();
    for colour in colours {
        let is_there = triples.iter().any(|other| (0..3).all(|k| (other[k] - colour[k]).abs() < 1e-4));
        assert!(is_there, "{colour:?} is not on the page");
    }
    let page = SCRIPTS.concat();
    let facts = [
        format!("({} * Math.PI) / 180; // from top to bottom", look::FIELD_OF_VIEW),
        format!("this.yaw = {}", look::DIRECTION[0]),
        format!("this.pitch = {}", look::DIRECTION[1]),
        format!("+ {}) / {}", look::WRAP, 1.0 + look::WRAP),
        format!("{} * front", look::FRONT),
        format!("40.0) * {}", look::GLOSS),
        "CREASE_COSINE = Math.cos(Math.PI / 3)".to_owned(),
    ];
    for fact in facts {
        assert!(page.contains(&fact), "`{fact}` is not on the page");
    }
    assert!((look::CREASE_COSINE - 0.5).abs() < 1e-6);
}
