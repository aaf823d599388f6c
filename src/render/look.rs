//! How things look: light, colours, ground. The viewer's page says the same in `src/preview/page/` (`drawing.js`, `camera.js`,
//! `geometry.js`, `elements.js`); what changes here changes there.

/// Towards the key light, before it is made a unit vector: from upper left in front.
pub const TOWARDS_LIGHT: [f32; 3] = [-0.45, 0.8, 0.4];
/// Light of the sky, from above.
pub const SKY: [f32; 3] = [0.56, 0.60, 0.66];
/// Light of the ground, from below.
pub const BOUNCE: [f32; 3] = [0.30, 0.285, 0.27];
/// The key light.
pub const KEY: [f32; 3] = [0.66, 0.645, 0.62];
/// How far the key light reaches around an edge.
pub const WRAP: f32 = 0.15;
/// Light from where one looks.
pub const FRONT: f32 = 0.06;
/// Gloss in the key light; its power is 40.
pub const GLOSS: f32 = 0.05;

/// What is behind everything: sRGB at the top and at the bottom.
pub const BACKGROUND: [[f32; 3]; 2] =
    [[223.0 / 255.0, 228.0 / 255.0, 234.0 / 255.0], [244.0 / 255.0, 245.0 / 255.0, 247.0 / 255.0]];
/// Lines of the ground.
pub const GRID: [f32; 3] = [0.30, 0.34, 0.40];
/// How strong they are, and every tenth of them.
pub const GRID_STRENGTH: [f32; 2] = [0.10, 0.20];
/// Where the light does not reach the ground.
pub const SHADOW: [f32; 3] = [0.10, 0.12, 0.17];
/// How strong the sharp and the wide part of a shadow are.
pub const SHADOW_STRENGTH: [f32; 2] = [0.36, 0.30];
/// How deep a shadow is that something throws from far above the ground; 1 near it.
pub const FAR_SHADOW: f32 = 0.35;

/// What has no colour in a heat map.
pub const NEUTRAL: [f32; 3] = [0.66, 0.67, 0.68];
/// Lines of a wireframe that lies on surfaces.
pub const WIRE: [f32; 3] = [0.07, 0.09, 0.12];

/// From top to bottom [degrees].
pub const FIELD_OF_VIEW: f64 = 35.0;
/// Where the camera stands [radians]: around the vertical axis, and above the horizon.
pub const DIRECTION: [f64; 2] = [0.5, 0.3];
/// Edges that are bent more than this at rest are meant to be sharp: a box is no ball.
pub const CREASE_COSINE: f32 = 0.5;
/// The end of the scale for objects that do not promise how far they stretch, and have not.
pub const USUAL_STRETCH: f64 = 0.1;
/// The end of the scale for volumes without a gate.
pub const USUAL_VOLUME: f64 = 0.01;

/// Text and thin lines of legends.
pub const INK: [f32; 3] = [0.13, 0.15, 0.18];

fn mix(a: [f32; 3], b: [f32; 3], part: f32) -> [f32; 3] {
    [0, 1, 2].map(|k| a[k] + part * (b[k] - a[k]))
}

/// 0 up to `low`, 1 from `high` on, smooth between them.
pub fn smooth_step(low: f32, high: f32, x: f32) -> f32 {
    let part = ((x - low) / (high - low)).clamp(0.0, 1.0);
    part * part * (3.0 - 2.0 * part)
}

/// Colours of a heat map for less, nothing, more, and over the limit.
pub const HEAT: [[f32; 3]; 4] = [[0.16, 0.40, 0.82], [0.87, 0.87, 0.86], [0.84, 0.17, 0.15], [0.38, 0.0, 0.22]];
/// Colours of what is far away, near, and touches.
pub const CONTACT: [[f32; 3]; 3] = [[0.74, 0.75, 0.77], [0.98, 0.72, 0.32], [0.80, 0.20, 0.09]];

/// Blue is shorter, red longer; what is over the limit goes on to a dark red, so that it is found. 1 is the limit.
pub fn diverging(value: f32) -> [f32; 3] {
    let [low, middle, high, over] = HEAT;
    let inside = mix(middle, if value < 0.0 { low } else { high }, value.abs().min(1.0));
    mix(inside, over, smooth_step(1.02, 1.5, value))
}

/// Nearer is redder; 1 touches.
pub fn near(value: f32) -> [f32; 3] {
    let [far, close, touch] = CONTACT;
    if value < 0.5 { mix(far, close, 2.0 * value) } else { mix(close, touch, 2.0 * value - 1.0) }
}

/// From what is stored of a colour to light.
pub fn linear(c: f32) -> f32 {
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// From light to what is stored.
pub fn srgb(c: f32) -> f32 {
    let c = c.clamp(0.0, 1.0);
    if c <= 0.003_130_8 { c * 12.92 } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 }
}
