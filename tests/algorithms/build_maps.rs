//! Factors for each vertex, from attributes, images and groups.

use std::path::{Path, PathBuf};

use image::{DynamicImage, GrayImage, ImageBuffer, ImageFormat, Luma, Rgba, RgbaImage};
use kiln::import::InputFile;
use kiln::import::image as import;
use kiln::mesh::generate as rule;
use kiln::mesh::simulation_mesh::SimulationMesh;
use kiln::mesh::surface::{Group, PolyMesh, VertexAttribute};
use kiln::model::build_maps::{Factors, VertexMaps, factors};
use kiln::scene::problem::{KeyPath, Place, Problem};
use kiln::scene::{Channel, MapSource, Maps};

use crate::{assert_close, polygons};

fn evaluate(map: &MapSource, surface: &PolyMesh, key: &str) -> Result<Factors, Problem> {
    let mut problems = Vec::new();
    let mesh = SimulationMesh::build(surface);
    let found = factors(map, surface, &mesh, key, &KeyPath::cloth(0), &mut problems);
    assert_eq!(found.is_none(), problems.len() == 1);
    found.ok_or_else(|| problems.remove(0))
}

/// Two triangles along an edge whose vertices the file has twice, as at a seam of an exported mesh.
fn seam() -> PolyMesh {
    let positions =
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 1.0, 0.0]];
    polygons(&positions, &[&[0, 1, 2], &[3, 4, 5]])
}

fn attribute(values: &[f64], range: [f64; 2]) -> (PolyMesh, MapSource) {
    let attributes = vec![VertexAttribute { name: "_THICK".to_owned(), values: values.to_vec() }];
    (PolyMesh { attributes, ..seam() }, MapSource::Attribute { name: "_THICK".to_owned(), range })
}

fn save(folder: &Path, name: &str, image: impl Into<DynamicImage>) -> PathBuf {
    let path = folder.join(name);
    image.into().save_with_format(&path, ImageFormat::Png).unwrap();
    path
}

fn image_map(path: &Path, range: [f64; 2]) -> MapSource {
    MapSource::Image { typed: "mask.png".to_owned(), path: path.to_owned(), channel: Channel::Luminance, range }
}

#[test]
fn welded_vertices_get_the_mean_of_their_attributes() {
    let (surface, map) = attribute(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.0, 1.0]);
    let found = evaluate(&map, &surface, "density_map").unwrap();
    assert_eq!(found, Factors { values: vec![1.0, 3.0, 4.5, 5.0], input: None });
}

#[test]
fn a_range_says_what_0_and_1_stand_for() {
    let (surface, map) = attribute(&[0.0, 0.5, 1.0, 0.5, 2.0, 1.0], [1.0, 3.0]);
    assert_eq!(evaluate(&map, &surface, "density_map").unwrap().values, [1.0, 2.0, 3.0, 5.0]);
}

#[test]
fn factors_that_no_cloth_can_have_are_refused() {
    for (values, range, key, message) in [
        ([0.0, 1.0, 1.0, 1.0, 1.0, 1.0], [0.0, 1.0], "density_map", "is 0.000, but it must be more than 0"),
        ([0.0, 1.0, 1.0, 1.0, 1.0, 1.0], [-0.5, 1.0], "bend_map", "is -0.500, but it must be at least 0"),
        ([1.0, 1.0, 1.0, 1.0, f64::NAN, 1.0], [0.0, 1.0], "stretch_map", "not a finite number"),
    ] {
        let (surface, map) = attribute(&values, range);
        let problem = evaluate(&map, &surface, key).unwrap_err();
        assert!(problem.message.contains(message), "{problem:?}");
        assert_eq!(problem.place, Place::Scene(KeyPath::cloth(0).key(key)));
        assert!(message.contains("finite") || problem.help.unwrap().contains("range = ["));
    }
    let (surface, map) = attribute(&[0.0, 1.0, 1.0, 1.0, 1.0, 1.0], [0.0, 1.0]);
    assert_eq!(evaluate(&map, &surface, "bend_map").unwrap().values[0], 0.0);
}

#[test]
fn names_that_the_mesh_does_not_have_are_refused_with_those_it_has() {
    let (surface, _) = attribute(&[1.0; 6], [0.0, 1.0]);
    let map = MapSource::Attribute { name: "_THIN".to_owned(), range: [0.0, 1.0] };
    let problem = evaluate(&map, &surface, "bend_map").unwrap_err();
    assert!(problem.message.contains("`_THIN`") && problem.help.unwrap().contains("`_THICK`"));
    let groups = vec![Group { name: "collar".to_owned(), faces: vec![0] }];
    let surface = PolyMesh { groups, ..surface };
    let map = MapSource::Groups([("color".to_owned(), 2.0)].into());
    let problem = evaluate(&map, &surface, "bend_map").unwrap_err();
    assert!(problem.message.contains("`color`") && problem.help.unwrap().contains("`collar`"));
}

#[test]
fn groups_give_their_factor_to_all_vertices_of_their_faces() {
    let group = |name: &str, faces: &[u32]| Group { name: name.to_owned(), faces: faces.to_vec() };
    let surface = PolyMesh { groups: vec![group("left", &[0]), group("all", &[0, 1])], ..seam() };
    let map = |factors: &[(&str, f64)]| {
        MapSource::Groups(factors.iter().map(|(name, factor)| ((*name).to_owned(), *factor)).collect())
    };
    let values = |factors: &[(&str, f64)]| evaluate(&map(factors), &surface, "stretch_map").unwrap().values;
    assert_eq!(values(&[("left", 3.0)]), [3.0, 3.0, 3.0, 1.0]);
    assert_eq!(values(&[("left", 3.0), ("all", 0.5)]), [1.5, 1.5, 1.5, 0.5]);
}

#[test]
fn an_image_is_read_between_its_pixels_with_v_up() {
    let folder = tempfile::tempdir().unwrap();
    // 0 and 255 above, 51 and 102 below.
    let path = save(folder.path(), "a.png", GrayImage::from_raw(2, 2, vec![0, 255, 51, 102]).unwrap());
    let (picture, input) = import::read("a.png", &path, Channel::Luminance).unwrap();
    assert_eq!(input, InputFile::new("a.png", &std::fs::read(&path).unwrap()));
    for (uv, value) in [
        ([0.25, 0.75], 0.0),
        ([0.75, 0.75], 1.0),
        ([0.25, 0.25], 0.2),
        ([0.75, 0.25], 0.4),
        ([0.5, 0.75], 0.5),
        ([0.25, 0.5], 0.1),
        ([0.5, 0.5], 0.4),
        // The rims do not mix with the opposite side.
        ([0.0, 1.0], 0.0),
        ([1.0, 1.0], 1.0),
        ([0.0, 0.0], 0.2),
        ([1.0, 0.0], 0.4),
        // It repeats.
        ([1.25, 0.75], 0.0),
        ([-0.25, 3.75], 1.0),
        ([7.75, -0.75], 0.4),
    ] {
        assert_close(picture.at(uv), value, 1e-12);
    }
}

#[test]
fn channels_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = save(folder.path(), "c.png", RgbaImage::from_pixel(3, 1, Rgba([51, 102, 153, 204])));
    let value = |path: &Path, channel: Channel| import::read("c.png", path, channel).unwrap().0.at([0.3, 0.3]);
    let brightness = 0.2126 * 0.2 + 0.7152 * 0.4 + 0.0722 * 0.6;
    for (channel, expected) in
        [(Channel::R, 0.2), (Channel::G, 0.4), (Channel::B, 0.6), (Channel::A, 0.8), (Channel::Luminance, brightness)]
    {
        assert_close(value(&path, channel), expected, 1e-5);
    }
    // Sixteen bits are kept; grey is every colour, and all of it is opaque.
    let deep: ImageBuffer<Luma<u16>, Vec<u16>> = ImageBuffer::from_pixel(1, 1, Luma([1234]));
    let path = save(folder.path(), "d.png", deep);
    for channel in [Channel::R, Channel::G, Channel::B, Channel::Luminance] {
        assert_close(value(&path, channel), 1234.0 / 65535.0, 1e-12);
    }
    assert_close(value(&path, Channel::A), 1.0, 0.0);
    let jpeg = folder.path().join("e.jpg");
    DynamicImage::from(GrayImage::from_pixel(8, 8, Luma([128]))).save_with_format(&jpeg, ImageFormat::Jpeg).unwrap();
    assert_close(value(&jpeg, Channel::G), 128.0 / 255.0, 0.01);
}

#[test]
fn an_image_is_laid_over_the_mesh_by_its_uvs() {
    let folder = tempfile::tempdir().unwrap();
    // Dark on the left, bright on the right.
    let path = save(folder.path(), "mask.png", GrayImage::from_raw(2, 1, vec![0, 255]).unwrap());
    let surface = rule::sheet([3, 2], [1.0, 1.0]);
    let found = evaluate(&image_map(&path, [1.0, 5.0]), &surface, "bend_map").unwrap();
    assert_eq!(found.input, Some(InputFile::new("mask.png", &std::fs::read(&path).unwrap())));
    for (value, expected) in found.values.iter().zip([1.0, 3.0, 5.0, 1.0, 3.0, 5.0]) {
        assert_close(*value, expected, 1e-12);
    }
    // Corners that share a vertex at a seam share the mean.
    let mut split = seam();
    split.uvs = vec![[0.0, 0.0], [1.0, 0.0]];
    for (corner, uv) in [0, 1, 0, 0, 1, 0].into_iter().enumerate() {
        split.corners[corner].uv = Some(uv);
    }
    assert_eq!(evaluate(&image_map(&path, [1.0, 5.0]), &split, "bend_map").unwrap().values, [1.0, 3.0, 1.0, 5.0]);
    split.corners[0].uv = None;
    let problem = evaluate(&image_map(&path, [1.0, 5.0]), &split, "bend_map").unwrap_err();
    assert!(problem.message.starts_with("1 vertices of the mesh have no UVs"), "{problem:?}");
    let problem = evaluate(&image_map(&path, [1.0, 5.0]), &seam(), "bend_map").unwrap_err();
    assert!(problem.message.starts_with("the mesh has no UVs"), "{problem:?}");
}

#[test]
fn images_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |path: &Path, words: &str| {
        let problem = import::read("x.png", path, Channel::R).unwrap_err();
        assert_eq!(problem.place, Place::File(path.to_owned()));
        assert!(problem.message.contains(words) && problem.help.is_some(), "{problem:?}");
    };
    refused(&folder.path().join("missing.png"), "cannot read the image");
    let text = folder.path().join("text.png");
    std::fs::write(&text, "this is no image").unwrap();
    refused(&text, "cannot read the image");
    let wide = save(folder.path(), "wide.png", GrayImage::new(16_385, 1));
    refused(&wide, "16385 x 1 pixels, the most are 16384 a side");
    save(folder.path(), "widest.png", GrayImage::new(16_384, 1));
    assert!(import::read("x.png", &folder.path().join("widest.png"), Channel::R).is_ok());
    let whole = std::fs::read(save(folder.path(), "cut.png", GrayImage::new(64, 64))).unwrap();
    for end in (0..whole.len()).step_by(7) {
        std::fs::write(folder.path().join("cut.png"), &whole[..end]).unwrap();
        // What is cut off after the last pixel is not missed.
        if let Err(problem) = import::read("x.png", &folder.path().join("cut.png"), Channel::R) {
            assert!(problem.message.contains("cannot read the image"), "{problem:?}");
        }
    }
}

#[test]
fn all_maps_of_a_cloth_are_evaluated_and_their_images_listed_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = save(folder.path(), "mask.png", GrayImage::from_pixel(1, 1, Luma([255])));
    let surface = rule::sheet([2, 2], [1.0, 1.0]);
    let mesh = SimulationMesh::build(&surface);
    let build = |maps: &Maps| {
        let mut problems = Vec::new();
        (VertexMaps::build(maps, &surface, &mesh, &KeyPath::cloth(0), &mut problems), problems)
    };
    let (none, problems) = build(&Maps::default());
    assert_eq!((none, problems), (Some(VertexMaps::default()), vec![]));
    let map = |range| Some(image_map(&path, range));
    let maps = Maps { density: map([0.0, 2.0]), bend: map([0.0, 3.0]), max_stretch: None };
    let found = build(&maps).0.unwrap();
    assert_eq!((found.density, found.bend, found.max_stretch), (Some(vec![2.0; 4]), Some(vec![3.0; 4]), None));
    assert_eq!(found.inputs, [InputFile::new("mask.png", &std::fs::read(&path).unwrap())]);
    let broken = Maps { density: map([0.0, -1.0]), bend: map([0.0, -1.0]), ..maps };
    let (found, problems) = build(&broken);
    assert_eq!((found, problems.len()), (None, 2));
}
