//! `kiln tet`: the tetrahedra that a soft body of this mesh would have, as a file.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value as Json, json};

use super::inspect::text;
use super::load::tell;
use super::switch;
use super::terminal::print;
use crate::algorithms::volume::tet_lattice::TetLattice;
use crate::bake::{Exit, Failure};
use crate::cache::tets::{self, TetFormat};
use crate::import;
use crate::math::Vec3;
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::model::tet_body::{make_lattice, settings};
use crate::scene::problem::KeyPath;
use crate::scene::{Lattice, LatticeSize, MeshSource, Placement, Unit, UpAxis};

#[derive(Debug, Args)]
pub struct TetArgs {
    /// A mesh (.glb, .gltf, .obj); any triangles will do
    mesh: PathBuf,
    /// File to write: .vtk, or .node and .ele together
    #[arg(short, long, value_name = "FILE", env = "KILN_TET_OUT")]
    output: PathBuf,
    /// Which object, group or node of the mesh file
    #[arg(long, value_name = "NAME", env = "KILN_OBJECT")]
    object: Option<String>,
    /// Edge of the lattice's cells, in units of the file
    #[arg(long, value_name = "LENGTH", env = "KILN_CELL", conflicts_with = "count", allow_hyphen_values = true)]
    cell: Option<f64>,
    /// About this many tetrahedra
    #[arg(long, value_name = "N", env = "KILN_COUNT", value_parser = clap::value_parser!(u32).range(5..))]
    count: Option<u32>,
    /// Part of a cell that must be inside the mesh, from 0 to 1
    #[arg(long, value_name = "PART", env = "KILN_DENSITY", allow_hyphen_values = true)]
    density: Option<f64>,
    /// Print JSON
    #[arg(long, env = "KILN_JSON", value_parser = switch())]
    json: bool,
}

pub fn run(arguments: &TetArgs) -> Result<(), Failure> {
    let TetArgs { mesh: path, output, .. } = arguments;
    let format = TetFormat::of(output).ok_or_else(|| {
        let cause = format!("{} is no file for tetrahedra, by its name", output.display());
        Failure::new(Exit::Usage, cause, "end it with .vtk, .node or .ele")
    })?;
    let name = path.display().to_string();
    let source = MeshSource::File { typed: name.clone(), path: path.clone(), object: arguments.object.clone() };
    let as_it_is =
        Placement { up: UpAxis::Y, scale: Unit::Metre.metres(), rotate: Vec3::zeros(), translate: Vec3::zeros() };
    let asset = import::read(&source, &as_it_is, &KeyPath::default()).map_err(|problem| {
        let cause = format!("{name} cannot be used: {}", problem.message);
        Failure::new(Exit::InvalidInput, cause, problem.help.unwrap_or_default())
    })?;
    tell(&asset.warnings, None);
    let lattice = Lattice {
        size: match (arguments.cell, arguments.count) {
            (Some(cell), _) => LatticeSize::Cell(cell),
            (None, Some(count)) => LatticeSize::Count(count),
            (None, None) => LatticeSize::Auto,
        },
        density: arguments.density.unwrap_or(Lattice::default().density),
        ..Lattice::default()
    };
    let made = make_lattice(&SimulationMesh::build(&asset.mesh), &settings(&lattice)).map_err(|message| {
        let remedy = "give another --cell or --count, or mend the mesh";
        Failure::new(Exit::InvalidInput, format!("{name}: {message}"), remedy)
    })?;
    let written = tets::write(output, format, &made.mesh)?;
    let files: Vec<&Path> = written.iter().map(|file| file.path.as_path()).collect();
    let mut report = json!({ "kind": "tetrahedra", "mesh": name, "files": files });
    if let (Some(report), Json::Object(facts)) = (report.as_object_mut(), facts(&made)) {
        report.extend(facts);
    }
    print(&if arguments.json { format!("{report:#}\n") } else { text(&report, 0) })
}

/// What is known about a lattice, for people and scripts.
pub fn facts(lattice: &TetLattice) -> Json {
    let report = &lattice.report;
    let quality = lattice.mesh.quality().map(|quality| {
        json!({
            "smallest_dihedral_angle": quality.smallest_angle,
            "largest_dihedral_angle": quality.largest_angle,
            "worst_tetrahedron": quality.worst,
            "worst_radius_ratio": quality.worst_ratio,
            "worst_volume": quality.worst_volume,
        })
    });
    json!({
        "nodes": report.nodes,
        "tetrahedra": report.tets,
        "cells": report.cells,
        "cell_size": report.cell_size,
        "grid_cells": report.grid_cells,
        "grid_voxels": report.grid_voxels,
        "volume": report.volume,
        "volume_of_the_mesh": report.pseudo_volume,
        "parts": report.parts,
        "filled_notches": report.filled_notches,
        "made_of_the_surface_alone": report.was_fallback,
        "quality": quality,
    })
}
