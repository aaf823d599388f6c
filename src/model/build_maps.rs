//! Factors on density, bending and stretch for each simulation vertex, from attributes, images and groups.

use std::collections::BTreeMap;

use crate::import::choice::list;
use crate::import::{InputFile, image};
use crate::mesh::simulation_mesh::SimulationMesh;
use crate::mesh::surface::PolyMesh;
use crate::scene::problem::{KeyPath, Place, Problem};
use crate::scene::{MapSource, Maps};

/// The factors of all maps of a cloth, one for each simulation vertex; `None` where there is no map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VertexMaps {
    /// On the mass per area.
    pub density: Option<Vec<f64>>,
    /// On the bending stiffness.
    pub bend: Option<Vec<f64>>,
    /// On the largest stretch.
    pub max_stretch: Option<Vec<f64>>,
    /// The images they came from.
    pub inputs: Vec<InputFile>,
}

/// One factor for each simulation vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct Factors {
    /// In the order of the simulation vertices.
    pub values: Vec<f64>,
    /// The image they came from, if it was one.
    pub input: Option<InputFile>,
}

impl VertexMaps {
    /// Evaluate all maps of a cloth; `place` is its path in the scene file. `None` after an error; all are found at once.
    pub fn build(
        maps: &Maps,
        surface: &PolyMesh,
        mesh: &SimulationMesh,
        place: &KeyPath,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let mut inputs = Vec::new();
        let mut is_sound = true;
        let mut values = |map: &Option<MapSource>, key: &str| -> Option<Vec<f64>> {
            let found = factors(map.as_ref()?, surface, mesh, key, place, problems);
            is_sound &= found.is_some();
            let found = found?;
            inputs.extend(found.input.filter(|input| !inputs.contains(input)));
            Some(found.values)
        };
        let density = values(&maps.density, "density_map");
        let bend = values(&maps.bend, "bend_map");
        let max_stretch = values(&maps.max_stretch, "stretch_map");
        is_sound.then_some(VertexMaps { density, bend, max_stretch, inputs })
    }
}

/// Evaluate one map. `key` is its name in the entry of a cloth, which is at `place`; of the three, only `bend_map` may have
/// factors of 0. `None` after an error.
pub fn factors(
    map: &MapSource,
    surface: &PolyMesh,
    mesh: &SimulationMesh,
    key: &str,
    place: &KeyPath,
    problems: &mut Vec<Problem>,
) -> Option<Factors> {
    let place = place.key(key);
    let found = evaluate(map, surface, mesh, &place).and_then(|factors| {
        check(&factors.values, map, key, &place)?;
        Ok(factors)
    });
    found.map_err(|problem| problems.push(problem)).ok()
}

fn evaluate(map: &MapSource, surface: &PolyMesh, mesh: &SimulationMesh, place: &KeyPath) -> Result<Factors, Problem> {
    let mapped = |values: Vec<f64>, [low, high]: [f64; 2]| values.iter().map(|x| low + (high - low) * x).collect();
    match map {
        MapSource::Attribute { name, range } => {
            let values = of_attribute(name, surface, mesh, place)?;
            Ok(Factors { values: mapped(values, *range), input: None })
        }
        MapSource::Image { typed, path, channel, range } => {
            let (picture, input) = image::read(typed, path, *channel)?;
            let values = of_image(&picture, surface, mesh, place)?;
            Ok(Factors { values: mapped(values, *range), input: Some(input) })
        }
        MapSource::Groups(groups) => Ok(Factors { values: of_groups(groups, surface, mesh, place)?, input: None }),
    }
}

/// The mean over the file vertices that are one in the simulation.
fn of_attribute(name: &str, surface: &PolyMesh, mesh: &SimulationMesh, place: &KeyPath) -> Result<Vec<f64>, Problem> {
    let Some(attribute) = surface.attributes.iter().find(|attribute| attribute.name == name) else {
        let names: Vec<&str> = surface.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
        let help = match names.is_empty() {
            true => "the mesh has none; glTF files keep them under names that start with `_`".to_owned(),
            false => format!("it has: {}", list(&names)),
        };
        let message = format!("the mesh has no vertex attribute `{name}`");
        return Err(Problem::error(Place::Scene(place.key("attribute")), message).help(help));
    };
    let of_file = attribute.values.iter().zip(&mesh.from_file_vertex);
    Ok(means(of_file.filter_map(|(value, vertex)| Some(((*vertex)?, *value))), mesh).0)
}

/// The mean over the corners of the file's polygons that are one in the simulation: along seams they have several UVs.
fn of_image(
    picture: &image::Picture,
    surface: &PolyMesh,
    mesh: &SimulationMesh,
    place: &KeyPath,
) -> Result<Vec<f64>, Problem> {
    let at_corners = surface.corners.iter().filter_map(|corner| {
        let vertex = mesh.from_file_vertex[corner.position as usize]?;
        let uv = surface.uvs.get(corner.uv? as usize)?;
        Some((vertex, picture.at(*uv)))
    });
    let (values, missing) = means(at_corners, mesh);
    if missing > 0 {
        let message = match missing == values.len() {
            true => "the mesh has no UVs, so no image can be laid over it".to_owned(),
            false => format!("{missing} vertices of the mesh have no UVs, so the image says nothing about them"),
        };
        let help = "unwrap the mesh and export it with UVs, or use `attribute` or `groups`";
        return Err(Problem::error(Place::Scene(place.key("image")), message).help(help));
    }
    Ok(values)
}

/// All vertices of a group's faces get its factor.
fn of_groups(
    groups: &BTreeMap<String, f64>,
    surface: &PolyMesh,
    mesh: &SimulationMesh,
    place: &KeyPath,
) -> Result<Vec<f64>, Problem> {
    let mut values = vec![1.0; mesh.positions.len()];
    for (name, factor) in groups {
        let Some(group) = surface.groups.iter().find(|group| &group.name == name) else {
            let names: Vec<&str> = surface.groups.iter().map(|group| group.name.as_str()).collect();
            let help = match names.is_empty() {
                true => "the mesh has no groups: use `attribute` or `image`".to_owned(),
                false => format!("it has: {}", list(&names)),
            };
            let message = format!("the mesh has no group `{name}`");
            return Err(Problem::error(Place::Key(place.key("groups").key(name)), message).help(help));
        };
        let corners = group.faces.iter().flat_map(|&face| surface.face(face as usize));
        let mut inside: Vec<u32> = corners.filter_map(|c| mesh.from_file_vertex[c.position as usize]).collect();
        inside.sort_unstable();
        inside.dedup();
        inside.into_iter().for_each(|vertex| values[vertex as usize] *= factor);
    }
    Ok(values)
}

/// The mean of each simulation vertex's values, and how many vertices have none.
fn means(values: impl Iterator<Item = (u32, f64)>, mesh: &SimulationMesh) -> (Vec<f64>, usize) {
    let mut sums = vec![(0.0, 0_u32); mesh.positions.len()];
    for (vertex, value) in values {
        let (sum, count) = &mut sums[vertex as usize];
        *sum += value;
        *count += 1;
    }
    let missing = sums.iter().filter(|(_, count)| *count == 0).count();
    (sums.into_iter().map(|(sum, count)| sum / f64::from(count.max(1))).collect(), missing)
}

fn check(values: &[f64], map: &MapSource, key: &str, place: &KeyPath) -> Result<(), Problem> {
    let refused = |message: String, help: &str| Err(Problem::error(Place::Scene(place.clone()), message).help(help));
    if let Some(vertex) = values.iter().position(|value| !value.is_finite()) {
        let message = format!("the factor of vertex {vertex} of the simulated mesh is not a finite number");
        return refused(message, "check the attribute in the program that wrote it");
    }
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let may_be_zero = key == "bend_map";
    if lowest < 0.0 || lowest == 0.0 && !may_be_zero {
        let bound = if may_be_zero { "at least 0" } else { "more than 0" };
        let message = format!("the lowest factor of this map is {lowest:.3}, but it must be {bound}");
        let help = match map {
            MapSource::Groups(_) => "raise the factors of its groups",
            _ => "`range` says which factors 0 and 1 stand for, such as range = [0.2, 1.0]",
        };
        return refused(message, help);
    }
    Ok(())
}
