//! Whole small bakes against known results.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod animated;
mod colliders;
mod energy;
mod free_fall;
mod friction;
mod hanging;
mod pins;
mod threads;
mod wind;

/// A sheet of 10 cm cells that hangs from two neighbouring corners in vacuum and starts horizontal.
fn hanging_sheet(vertices: u32, frames: u32, fabric: &str) -> support::World {
    let (last, size) = (vertices - 1, 0.1 * f64::from(vertices - 1));
    support::World::new(&format!(
        r#"
        [scene]
        name = "hanging"
        fps = 30
        frames = "0-{frames}"
        [air]
        drag = 0
        [[cloth]]
        name = "sheet"
        mesh = {{ sheet = {{ vertices = [{vertices}, {vertices}], size = [{size}, {size}] }} }}
        pins = [{{ vertices = [0, {last}] }}]
        {fabric}
        "#
    ))
}
