//! The OBJ reader, and in `gltf` the other one: against common crates, against what files in the wild look like, and
//! against damage.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod films;
mod gltf;
mod gltf_damage;
mod sample;

use std::io::Cursor;
use std::path::Path;

use kiln::import::mtl;
use kiln::import::obj::{ObjFile, parse};
use kiln::mesh::simulation_mesh::SimulationMesh;
use kiln::mesh::surface::{Corner, PolyMesh};
use kiln::scene::problem::{Place, Problem};

fn read(text: &str) -> ObjFile {
    parse(Path::new("a.obj"), text.as_bytes()).unwrap_or_else(|problem| panic!("{problem:?}"))
}

fn whole(text: &str) -> PolyMesh {
    read(text).whole().clone()
}

fn refused(text: &str) -> Problem {
    parse(Path::new("a.obj"), text.as_bytes()).expect_err("this file should be refused")
}

/// Position, texture coordinate and normal of each corner of a polygon.
type Polygon = Vec<(Vec<f32>, Option<Vec<f32>>, Option<Vec<f32>>)>;

fn ours(mesh: &PolyMesh) -> Vec<Polygon> {
    let floats = |values: &[f64]| values.iter().map(|x| *x as f32).collect::<Vec<f32>>();
    let corner = |c: &Corner| {
        let uv = c.uv.map(|uv| floats(&mesh.uvs[uv as usize]));
        let normal = c.normal.map(|normal| floats(mesh.normals[normal as usize].as_slice()));
        (floats(mesh.positions[c.position as usize].as_slice()), uv, normal)
    };
    (0..mesh.face_count()).map(|face| mesh.face(face).iter().map(corner).collect()).collect()
}

fn theirs(text: &str) -> Vec<Polygon> {
    let options = tobj::LoadOptions { single_index: false, triangulate: false, ..tobj::LoadOptions::default() };
    let no_materials = |_: &Path| Ok((Vec::new(), Default::default()));
    let (models, _) = tobj::load_obj_buf(&mut Cursor::new(text), &options, no_materials).unwrap();
    let mut polygons = Vec::new();
    for tobj::Model { mesh, .. } in &models {
        let pick = |values: &[f32], i: u32, n: usize| values[n * i as usize..][..n].to_vec();
        let corner = |at: usize| {
            let uv = mesh.texcoord_indices.get(at).map(|&i| pick(&mesh.texcoords, i, 2));
            let normal = mesh.normal_indices.get(at).map(|&i| pick(&mesh.normals, i, 3));
            (pick(&mesh.positions, mesh.indices[at], 3), uv, normal)
        };
        let sizes =
            if mesh.face_arities.is_empty() { vec![3; mesh.indices.len() / 3] } else { mesh.face_arities.clone() };
        let mut at = 0;
        for size in sizes {
            polygons.push((at..at + size as usize).map(corner).collect());
            at += size as usize;
        }
    }
    polygons
}

/// Two objects, groups, materials, polygons of three to five corners, all kinds of corner, negative indices.
const RICH: &str = "\
# made by hand
mtllib cloth.mtl
o front
v 0 0 0
v 1 0 0
v 1 1 0.5
v 0 1 -1.25e-1
v 0.5 1.5 +0.25
vt 0 0
vt 1 0
vt 1 1
vt 0 1
vt 0.5 1
vn 0 0 1
vn 0 1 0
g body hem
usemtl silk
s 1
f 1/1/1 2/2/1 3/3/2 4/4/2
g body
f 4/4/1 3/3/1 5/5/1
o back
v 2 0 0
v 3 0 0
v 3 1 0
usemtl wool
g lining
f -3/1/1 -2/2/1 -1/3/1 3/4/1 2/5/2
usemtl silk
f 6/-1/-1 7/-2/-1 8/-3/-2
";

struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % count as u64) as usize
    }
}

/// A file of random polygons; `corner` writes a corner from a vertex number counted from 1 and the count.
fn generated(seed: u64, corner: fn(usize, usize) -> String) -> String {
    let mut random = Random(seed);
    let count = 60;
    let mut text = String::new();
    // tobj gives corners without texture coordinate the first one of the file, so there is none unless it is used.
    let example = corner(1, count);
    let used = |part: usize| example.split('/').nth(part).is_some_and(|text| !text.is_empty());
    for statement in ["v", "vt", "vn"].into_iter().enumerate().filter(|(part, _)| used(*part)).map(|(_, name)| name) {
        for _ in 0..count {
            let mut number = || random.below(2_000_000) as f64 / 1e5 - 10.0;
            let [x, y, z] = [number(), number(), number()];
            text += &if statement == "vt" { format!("vt {x} {y}\n") } else { format!("{statement} {x} {y} {z}\n") };
        }
    }
    for _ in 0..100 {
        let corners: Vec<String> = (0..3 + random.below(5)).map(|_| corner(1 + random.below(count), count)).collect();
        text += &format!("f {}\n", corners.join(" "));
    }
    text
}

#[test]
fn it_reads_what_tobj_reads() {
    assert_eq!(ours(&whole(RICH)), theirs(RICH));
    let corners: [fn(usize, usize) -> String; 6] = [
        |v, _| format!("{v}"),
        |v, n| format!("{v}/{}", n + 1 - v),
        |v, n| format!("{v}//{}", n + 1 - v),
        |v, n| format!("{v}/{}/{v}", n + 1 - v),
        |v, n| format!("-{v}/-{}/{v}", n + 1 - v),
        |v, _| format!("-{v}"),
    ];
    for (seed, corner) in corners.into_iter().enumerate() {
        let text = generated(seed as u64, corner);
        assert!(ours(&whole(&text)) == theirs(&text), "corners like {}", corner(1, 60));
    }
}

#[test]
fn everything_stays_in_the_order_of_the_file() {
    let mesh = whole(RICH);
    assert_eq!(mesh.positions.len(), 8);
    assert_eq!(mesh.positions.iter().map(|p| p.x).collect::<Vec<_>>(), [0.0, 1.0, 1.0, 0.0, 0.5, 2.0, 3.0, 3.0]);
    assert_eq!(mesh.uvs.len(), 5);
    assert_eq!(mesh.normals.len(), 2);
    let face = |n: usize| mesh.face(n).iter().map(|c| c.position).collect::<Vec<_>>();
    assert_eq!(
        [face(0), face(1), face(2), face(3)],
        [vec![0, 1, 2, 3], vec![3, 2, 4], vec![5, 6, 7, 2, 1], vec![5, 6, 7]]
    );
    assert_eq!(mesh.face(3)[0], Corner { position: 5, uv: Some(4), normal: Some(1) });
    assert_eq!(mesh.material_libraries, ["cloth.mtl"]);
    let runs: Vec<_> = mesh.smoothing.iter().map(|run| (run.first_face, run.name.as_str())).collect();
    assert_eq!(runs, [(0, "1")]);
}

#[test]
fn unused_vertices_are_kept() {
    let mesh = whole("v 9 9 9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 8 8 8\nf 2 3 4\n");
    assert_eq!(mesh.positions.len(), 5);
    assert_eq!(mesh.corners[0].position, 1);
}

#[test]
fn groups_and_materials_name_their_faces() {
    let mesh = whole(RICH);
    let groups: Vec<(&str, &[u32])> = mesh.groups.iter().map(|g| (g.name.as_str(), g.faces.as_slice())).collect();
    assert_eq!(groups, [("body", &[0, 1][..]), ("hem", &[0]), ("lining", &[2, 3])]);
    let materials: Vec<(u32, &str)> = mesh.materials.iter().map(|m| (m.first_face, m.name.as_str())).collect();
    assert_eq!(materials, [(0, "silk"), (2, "wool"), (3, "silk")]);
}

#[test]
fn several_objects_ask_for_a_choice_and_list_themselves() {
    let file = read(RICH);
    assert_eq!(file.object_names(), ["front", "back"]);
    let choice = file.select(None).unwrap_err();
    assert!(choice.message.contains("2 objects") && choice.help.contains("`front`, `back`"), "{choice:?}");
    let choice = file.select(Some("side")).unwrap_err();
    assert!(choice.message.contains("`side`"), "{choice:?}");
    assert!(choice.help.contains("`front`, `back`, `body`, `hem`, `lining`"), "{choice:?}");
}

#[test]
fn a_chosen_object_is_its_part_of_the_file() {
    let front = read(RICH).select(Some("front")).unwrap();
    assert_eq!(front.name, "front");
    assert_eq!(ours(&front), ours(&whole(RICH))[..2]);
    assert_eq!(front.positions.len(), 5);
    // The other one borrows two vertices.
    let back = read(RICH).select(Some("back")).unwrap();
    assert_eq!(ours(&back), ours(&whole(RICH))[2..]);
    assert_eq!(back.positions.iter().map(|p| p.x).collect::<Vec<_>>(), [1.0, 1.0, 2.0, 3.0, 3.0]);
    assert_eq!(back.groups.len(), 1);
    assert_eq!(back.groups[0].faces, [0, 1]);
    assert_eq!(back.materials.iter().map(|m| m.first_face).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn an_object_keeps_vertices_that_no_face_uses() {
    let text = "o a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 7 7 7\nf 1 2 3\no b\nv 0 0 1\nv 1 0 1\nv 0 1 1\nf 5 6 7\n";
    assert_eq!(read(text).select(Some("a")).unwrap().positions.len(), 4);
    assert_eq!(read(text).select(Some("b")).unwrap().positions.len(), 3);
}

#[test]
fn a_group_can_be_chosen_and_a_single_object_need_not_be() {
    let hem = read(RICH).select(Some("hem")).unwrap();
    assert_eq!(ours(&hem), ours(&whole(RICH))[..1]);
    assert_eq!(hem.positions.len(), 4);
    let single = "o only\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    for name in [None, Some("only")] {
        assert_eq!(read(single).select(name).unwrap().name, "only");
    }
    assert_eq!(read("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").select(None).unwrap().name, "");
}

#[test]
fn line_ends_comments_and_a_byte_order_mark_change_nothing() {
    let expected = whole(RICH);
    let variants = [
        RICH.replace('\n', "\r\n"),
        format!("\u{feff}{RICH}"),
        RICH.trim_end().to_owned(),
        RICH.replace('\n', "\n\n   \n# a note\n"),
        RICH.replace("v ", "  v\t"),
        RICH.replace("\nf ", " # inline\nf  "),
        RICH.replace(" 2/2/1", " \\\n 2/2/1"),
        RICH.replace(" 2/2/1", "\\\r\n2/2/1").replace("1/1/1\\", "1/1/1 \\"),
        RICH.replace("s 1\n", "s 1\nl 1 2\np 3\n"),
    ];
    for (n, text) in variants.iter().enumerate() {
        assert_eq!(whole(text), expected, "variant {n}:\n{text}");
    }
}

#[test]
fn a_comment_is_not_continued() {
    let text = RICH.replacen("v 0 0 0", "# made from C:\\cloth\\\nv 0 0 0", 1);
    assert_eq!(whole(&text), whole(RICH));
}

#[test]
fn names_may_hold_a_number_sign_and_spaces() {
    let text = "o Plane #2\nusemtl Material #25\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 # last\n";
    let file = read(text);
    assert_eq!(file.object_names(), ["Plane #2"]);
    assert_eq!(file.whole().materials[0].name, "Material #25");
    assert_eq!(read(&text.replace("#2\n", "# a comment\n")).object_names(), ["Plane"]);
}

#[test]
fn colours_weights_and_flat_texture_coordinates_are_understood() {
    let mesh = whole("v 0 0 0 1 0.5 0\nv 1 0 0 1.0\nv 0 1 0\nvt 0.25\nvt 0.5 0.75 0\nf 1/1 2/2 3/1\n");
    assert_eq!(mesh.positions.len(), 3);
    assert_eq!(mesh.uvs, [[0.25, 0.0], [0.5, 0.75]]);
}

#[test]
fn malformed_files_are_refused_at_the_right_line() {
    let start = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    let cases = [
        ("v 1 2\n", 1, "`v` needs 3 numbers"),
        ("v 1 2 x\n", 1, "`x` is not a finite number"),
        ("v 1 nan 0\n", 1, "`nan` is not a finite number"),
        ("v 1 2 1e999\n", 1, "not a finite number"),
        ("vt\n", 1, "`vt` needs 1 numbers"),
        ("vn 0 1\n", 1, "`vn` needs 3 numbers"),
        ("START f 1 2\n", 4, "at least 3 corners, this one has 2"),
        ("START f\n", 4, "this one has 0"),
        ("START f 1 2 4\n", 4, "vertex 4 does not exist: the file has 3 vertices up to here"),
        ("START f 0 1 2\n", 4, "vertex 0 does not exist"),
        ("START f 1 2 -4\n", 4, "vertex -4 does not exist"),
        ("START f 1 2 3.5\n", 4, "`3.5` is not a vertex number"),
        ("START f 1 2 99999999999999999999\n", 4, "is not a vertex number"),
        ("START f 1 2 -9223372036854775808\n", 4, "does not exist"),
        ("START f 1/1 2/1 3/1\n", 4, "texture coordinate 1 does not exist: the file has 0 texture coordinates"),
        ("START vn 0 0 1\nf 1//1 2//1 3//2\n", 5, "normal 2 does not exist: the file has 1 normal up to here"),
        ("START f 1 2 3\nhello world\n", 5, "`hello` is not an OBJ statement"),
        ("START # a\n\n\\\nf 1 2 \\\n 3 9\n", 6, "vertex 9 does not exist"),
        ("START f 1 2 3\nf 1 2 \\", 5, "this one has 2"),
        ("\u{0}\u{1}\u{2}", 1, "is not an OBJ statement"),
    ];
    for (text, line, message) in cases {
        let problem = refused(&text.replace("START ", start));
        assert!(problem.message.contains(message), "{text:?}: {problem:?}");
        assert_eq!(problem.place, Place::Line("a.obj".into(), line), "{text:?}");
        assert!(problem.help.is_some());
    }
}

#[test]
fn a_file_without_faces_is_refused_as_a_whole() {
    for text in ["", "# nothing\n", "v 0 0 0\nv 1 0 0\nl 1 2\n"] {
        let problem = refused(text);
        assert_eq!(problem.place, Place::File("a.obj".into()));
        assert!(problem.message.contains("no faces"));
    }
}

/// Everything that a bake does with a file's content.
fn use_up(bytes: &[u8]) -> bool {
    let Ok(file) = parse(Path::new("a.obj"), bytes) else { return false };
    let mut names: Vec<Option<String>> = vec![None];
    names.extend(file.object_names().into_iter().map(|name| Some(name.to_owned())));
    names.extend(file.whole().groups.iter().map(|group| Some(group.name.clone())));
    for mesh in names.iter().filter_map(|name| file.select(name.as_deref()).ok()) {
        assert_eq!(*mesh.face_starts.last().unwrap() as usize, mesh.corners.len());
        assert!(mesh.corners.iter().all(|c| (c.position as usize) < mesh.positions.len()));
        let simulated = SimulationMesh::build(&mesh);
        assert_eq!(simulated.from_file_vertex.len(), mesh.positions.len());
    }
    true
}

#[test]
fn damaged_files_never_stop_the_program() {
    let mut random = Random(7);
    let mut good = 0;
    let words: [&[u8]; 8] = [b"\\\n", b"#", b"/", b"-1", b" 1e308", b"\nf 1 1 1\n", b"\xff\xfe", b"\no x\n"];
    for _ in 0..3000 {
        let mut bytes = RICH.as_bytes().to_vec();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            match random.below(5) {
                0 => bytes[at] ^= 1 << random.below(8),
                1 => bytes[at] = random.below(256) as u8,
                2 => bytes.truncate(at.max(1)),
                3 => drop(bytes.splice(at..at, words[random.below(words.len())].iter().copied())),
                _ => drop(bytes.drain(at..(at + 1 + random.below(9)).min(bytes.len() - 1).max(at))),
            }
        }
        good += usize::from(use_up(&bytes));
    }
    assert!((300..2900).contains(&good), "{good} of 3000 damaged files were read: the damage is too mild or too hard");
}

#[test]
fn materials_come_back_from_mtl() {
    let text = "# made by hand\nKd 1 1 1\nnewmtl red\nKd 0.5 0.25 0\nKe 2 0 0\nTr 0.25\nPm 0.5\nPr 7\nKd nonsense\n\
                newmtl  blue one \nKd 0.5\nmap_Kd blue.png\n# kiln: single-sided\n";
    let materials = mtl::parse(text);
    assert_eq!(materials.len(), 2);
    let red = &materials[0];
    assert_eq!((red.base_color, red.emissive), ([0.5, 0.25, 0.0, 0.75], [2.0, 0.0, 0.0]));
    assert_eq!((red.metallic, red.roughness, red.double_sided), (0.5, 1.0, true));
    let blue = &materials[1];
    assert_eq!((blue.name.as_str(), blue.base_color, blue.double_sided), ("blue one", [0.5, 0.5, 0.5, 1.0], false));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("both.mtl");
    kiln::cache::obj::write_mtl(&path, &materials).unwrap();
    assert_eq!(mtl::parse(&std::fs::read_to_string(&path).unwrap()), materials);

    let mut mesh = PolyMesh { material_libraries: vec!["both.mtl absent.mtl /dev/zero".into()], ..PolyMesh::default() };
    let inputs = mtl::read_libraries(&mut mesh, folder.path());
    assert_eq!((mesh.material_definitions, inputs.len()), (materials, 1));
}
