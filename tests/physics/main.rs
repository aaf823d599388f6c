//! Whole small bakes against known results.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod agree;
mod animated;
mod colliders;
mod degenerate;
mod drape;
mod energy;
mod free_fall;
mod friction;
mod hanging;
mod pairs;
mod pins;
mod recover;
mod shape_matching;
mod soft_bodies;
mod threads;
mod wind;

/// All models of cloth, and all solvers.
const MODELS: [&str; 3] = ["stretch_only", "grid", "midpoint"];
const SOLVERS: [&str; 4] = ["iterative", "direct", "strips", "pcg"];

/// A square sheet of cells this large, of quads where the model wants them, as a scene file says it.
fn sheet_of(vertices: u32, cell: f64, model: &str) -> String {
    let size = cell * f64::from(vertices - 1);
    let quads = model == "grid";
    format!(
        "mesh = {{ sheet = {{ vertices = [{vertices}, {vertices}], size = [{size}, {size}], quads = {quads} }} }}\nmodel = \"{model}\""
    )
}

/// A sheet of 10 cm cells that hangs from two neighbouring corners in vacuum and starts horizontal.
fn hanging_sheet(vertices: u32, frames: u32, model: &str, solver: &str, fabric: &str) -> support::World {
    let (last, mesh) = (vertices - 1, sheet_of(vertices, 0.1, model));
    let most = if support::full() { 20_000 } else { 1000 }; // so that a solver that asks for too many is still told from one that hangs
    support::World::new(&format!(
        r#"
        [scene]
        name = "hanging"
        fps = 30
        frames = "0-{frames}"
        substeps = {{ max = {most} }}
        [air]
        drag = 0
        [[cloth]]
        name = "sheet"
        {mesh}
        solver = "{solver}"
        pins = [{{ vertices = [0, {last}] }}]
        {fabric}
        "#
    ))
}
