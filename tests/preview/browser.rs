//! The page in a real browser: what it draws is compared with the stores, through its camera but without its code.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use image::RgbImage;
use kiln::bake::heat;
use kiln::bake::movie::{Movie, MovieObject};
use kiln::cache::store::{StoreReader, StoredFrame};
use kiln::math::Vec3;
use serde_json::{Value as Json, json};

use super::drawn::{Camera, Drawn};
use super::{Baked, Preview, Running, SCENE, damaged_stream, kiln, numbers, text};

/// Let the browser do something; what it returns.
pub(super) fn browse(case: &str, arguments: &Json) -> Json {
    let modules = std::env::var_os("KILN_TEST_NODE_MODULES").map(PathBuf::from).unwrap_or_else(|| {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| std::env::home_dir().map(|home| home.join(".cache"))).unwrap();
        cache.join("kiln-tests/node-validator-3.10-three-0.187.0-puppeteer-24.43.1/node_modules")
    });
    assert!(modules.is_dir(), "there are no packages at {}: run tests/run once, it fetches them", modules.display());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/preview/browser.mjs");
    let mut node = Command::new("node");
    node.arg(script).arg(modules).args(["/usr/bin/chromium", case, &arguments.to_string()]);
    let result = node.output().unwrap_or_else(|error| panic!("cannot start {node:?}: {error}; run tests/run"));
    let (out, err) = (String::from_utf8_lossy(&result.stdout), String::from_utf8_lossy(&result.stderr));
    assert!(result.status.success(), "{case}: {out}{err}");
    serde_json::from_str(out.lines().last().unwrap()).unwrap()
}

/// Where the browser leaves pictures; kept if a test fails.
pub(super) fn pictures(test: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("kiln-preview-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    println!("pictures in {}", folder.display());
    folder
}

fn picture(folder: &Path, name: &str) -> RgbImage {
    image::open(folder.join(format!("{name}.png"))).unwrap().to_rgb8()
}

pub(super) fn buffer(folder: &Path, name: &str, bake: usize, kind: &str) -> Vec<u8> {
    std::fs::read(folder.join(format!("{name}.{bake}.{kind}"))).unwrap()
}

/// All vertices of a frame of a movie, object by object.
pub(super) fn frame_of(movie: &mut Movie, frame: i64) -> Vec<Vec<[f32; 3]>> {
    let place = movie.frames.iter().position(|known| *known == frame).unwrap();
    let mut vertices = Vec::new();
    movie.read(place, &mut vertices).unwrap();
    vertices
}

fn flat(vertices: &[Vec<[f32; 3]>]) -> Vec<f32> {
    vertices.iter().flatten().flatten().copied().collect()
}

fn largest_difference(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Sheets are red, nothing else is.
fn is_red([r, g, b]: [u8; 3]) -> bool {
    f64::from(r) > 1.35 * f64::from(g.max(b))
}

#[test]
fn pixels_and_buffers_are_those_of_the_cache() {
    let baked = Baked::new(SCENE);
    let preview = Preview::of(&[&baked.job()]);
    let folder = pictures("frames");
    let frames = [1001, 1006, 1012];
    let seen =
        browse("frames", &json!({ "url": preview.address(), "frames": frames, "folder": folder, "offline": false }));
    assert_eq!(seen["foreign"], json!([]), "everything comes from the server");
    assert_eq!(seen["state"]["frame"], 1012);
    let camera = Camera::of(&seen["camera"]);
    let mut movie = Movie::open(&baked.job()).unwrap();
    let mut store = StoreReader::open(&baked.job().join("bake.kc")).unwrap();
    let mut stored = StoredFrame::default();
    let mut areas = Vec::new();
    for frame in frames {
        let name = frame.to_string();
        let shown = numbers(&buffer(&folder, &name, 0, "positions"));
        store.read((frame - 1001) as usize, &mut stored).unwrap();
        let sheet: Vec<f32> = stored.objects[0].positions.iter().flatten().copied().collect();
        assert_eq!(shown[..sheet.len()], sheet, "frame {frame}: to the last bit");
        let vertices = frame_of(&mut movie, frame);
        assert_eq!(shown, flat(&vertices), "frame {frame}: colliders too");
        // The pixels of the sheet, in front of the ball or behind it.
        let drawn = Drawn::new(&camera, &[(&movie, &vertices)]);
        let picture = picture(&folder, &name);
        let overlap = drawn.overlap(&picture, |owner| owner == Some((0, 0)), is_red);
        println!("frame {frame}: {overlap:?}");
        assert!(overlap.shared > 0.97, "frame {frame}: {overlap:?}");
        areas.push(overlap.expected);
        // The ball is grey and not the background: darker than it wherever it is in sight.
        let ball = drawn.overlap(
            &picture,
            |owner| owner == Some((0, 1)),
            |[r, g, b]| !is_red([r, g, b]) && r < 205 && g < 210,
        );
        assert!(ball.expected < 500 || ball.hit > 0.9, "frame {frame}: {ball:?}");
    }
    assert!(areas.iter().all(|area| *area > 3000), "{areas:?}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn it_plays_and_answers_keys_and_mouse() {
    let baked = Baked::new(SCENE);
    let preview = Preview::of(&[&baked.job()]);
    let seen = browse("plays", &json!({ "url": preview.address(), "seconds": 30 }));
    let frames: Vec<i64> = seen["seen"].as_array().unwrap().iter().map(|frame| frame.as_i64().unwrap()).collect();
    assert!(seen["playing"].as_bool().unwrap());
    assert_eq!(seen["still"], true, "it stands when it was stopped");
    assert_eq!(seen["speed"], 0.5);
    // It goes through all and begins anew. A machine that is busy leaves some out.
    let backwards = frames.windows(2).filter(|pair| pair[1] < pair[0]).count();
    let mut kinds = frames.clone();
    kinds.sort_unstable();
    kinds.dedup();
    assert!((2..=3).contains(&backwards) && kinds.len() >= 5, "{frames:?}");
    assert!(seen["away"].as_f64().unwrap() < 1.5, "the play head is off by {} pixels", seen["away"]);
    // The worst frame, by the log alone.
    let records = Movie::open(&baked.job()).unwrap().records().unwrap();
    let stretch = |frame: i64| records.iter().find(|record| record.frame == frame).unwrap().objects[0].max_stretch;
    let worst = (1001..=1012).max_by(|a, b| stretch(*a).total_cmp(&stretch(*b))).unwrap();
    assert!(records.iter().all(|record| record.objects.iter().all(|object| object.degraded.is_empty())));
    assert_eq!(seen["worst"].as_i64(), Some(worst));
    let marks = seen["marks"].as_array().unwrap();
    assert!(marks.iter().any(|mark| mark["frame"].as_i64() == Some(worst) && mark["kind"] == "worst"), "{marks:?}");
    // The camera: it goes round, then aside, then nearer, then back to see everything.
    let cameras: Vec<Camera> = seen["cameras"].as_array().unwrap().iter().map(Camera::of).collect();
    let [before, orbited, panned, zoomed, framed] = cameras.as_slice() else { panic!("five cameras") };
    assert!((before.forward - orbited.forward).norm() > 0.1);
    assert!((orbited.forward - panned.forward).norm() < 1e-9 && (orbited.eye - panned.eye).norm() > 0.05);
    assert!(((orbited.eye - panned.eye).dot(&orbited.forward)).abs() < 1e-9);
    assert!((zoomed.eye - panned.eye).dot(&panned.forward) > 0.1);
    assert!((framed.eye - zoomed.eye).norm() > 0.1 && (framed.forward - zoomed.forward).norm() < 1e-9);
    let pressed = &seen["pressed"];
    assert_eq!(
        (&pressed["wire"], &pressed["smooth"], &pressed["loop"]),
        (&json!("over"), &json!(false), &json!(false))
    );
    assert_eq!(pressed["speed"], 2);
    assert_eq!(seen["hides"], json!(["sheet"]));
    assert_eq!(seen["help"], true);
}

/// How near the planes of a ball's triangles come to its centre.
fn ball_depth(ball: &MovieObject) -> f64 {
    let point = |v: u32| Vec3::from(ball.rest[v as usize].map(f64::from));
    let centre = ball.rest.iter().map(|p| Vec3::from(p.map(f64::from))).sum::<Vec3>() / ball.rest.len() as f64;
    let plane = |&[a, b, c]: &[u32; 3]| {
        let normal = (point(b) - point(a)).cross(&(point(c) - point(a)));
        ((point(a) - centre).dot(&normal) / normal.norm()).abs()
    };
    ball.triangles.iter().map(plane).fold(f64::INFINITY, f64::min)
}

#[test]
fn heat_maps_show_stretch_and_contact() {
    let baked = Baked::new(&SCENE.replace("1001-1012", "1001-1030"));
    let preview = Preview::of(&[&baked.job()]);
    let folder = pictures("heat");
    let frame = 1030;
    let seen = browse("heat", &json!({ "url": preview.address(), "frame": frame, "folder": folder }));
    let legends: Vec<&str> =
        seen["legends"].as_array().unwrap().iter().map(|legend| legend.as_str().unwrap()).collect();
    assert!(
        legends[0].contains("stretch") && legends[1].contains("Distance") && legends[2].contains("olume"),
        "{legends:?}"
    );
    let mut movie = Movie::open(&baked.job()).unwrap();
    let vertices = frame_of(&mut movie, frame);
    let sheet = &movie.objects[0];
    let camera = Camera::of(&seen["camera"]);
    let drawn = Drawn::new(&camera, &[(&movie, &vertices)]);
    // The stretch of each vertex, from the definition.
    let stretch = numbers(&buffer(&folder, "stretch", 0, "stretch"));
    let expected = heat::stretch(&heat::polygon_edges(sheet), &sheet.rest, &vertices[0]);
    assert!(largest_difference(&stretch[..expected.len()], &expected) < 2e-6);
    let limit = sheet.max_stretch.unwrap() as f32;
    let seen_colour = |name: &str, wanted: &dyn Fn(usize) -> Option<bool>, is_so: &dyn Fn([u8; 3]) -> bool| {
        let picture = picture(&folder, name);
        let judged: Vec<bool> = (0..expected.len())
            .filter_map(|vertex| Some((wanted(vertex)?, drawn.pixel_of_vertex(&vertices, (0, 0), vertex)?)))
            .map(|(wanted, [x, y])| is_so(picture.get_pixel(x, y).0) == wanted)
            .collect();
        let right = judged.iter().filter(|right| **right).count();
        println!("{name}: {right} of {} vertices in sight", judged.len());
        assert!(judged.len() >= 20 && right * 20 >= judged.len() * 19, "{name}: {right} of {}", judged.len());
    };
    let warm = |[r, _, b]: [u8; 3]| r > b;
    let strong = |vertex: usize| (expected[vertex].abs() > 0.6 * limit).then_some(expected[vertex] > 0.0);
    seen_colour("stretch", &strong, &warm);
    // Who touches the ball, from its centre and radius.
    let contact = buffer(&folder, "contact", 0, "contact");
    let centre = Vec3::new(0.1, 0.4, 0.0); // where its last key has it
    let place = |vertex: u32| Vec3::from(vertices[0][vertex as usize].map(f64::from));
    // Of each vertex the nearest of itself and the middles of the edges and triangles around it.
    let mut gaps = vec![f64::INFINITY; expected.len()];
    for &[a, b, c] in &sheet.triangles {
        for around in [vec![a], vec![b], vec![c], vec![a, b], vec![b, c], vec![c, a], vec![a, b, c]] {
            let middle = around.iter().map(|&vertex| place(vertex)).sum::<Vec3>() / around.len() as f64;
            for vertex in around {
                let known = &mut gaps[vertex as usize];
                *known = known.min((middle - centre).norm() - 0.3);
            }
        }
    }
    let kept = sheet.thickness + movie.objects[1].thickness;
    // The ball is a polyhedron within its sphere: its triangles may be this much farther away.
    let sunk = 0.3 - ball_depth(&movie.objects[1]);
    let nearness = |far: f64| (1.0 - (far / kept - 1.1) / (heat::REACH - 1.1)).clamp(0.0, 1.0) * 255.0;
    for vertex in (0..expected.len()).filter(|&vertex| f64::from(vertices[0][vertex][1]) > 5.0 * kept) {
        let (value, far) = (f64::from(contact[vertex]), gaps[vertex]);
        let range = nearness(far + sunk) - 1.0..=nearness(far) + 1.0;
        assert!(range.contains(&value), "vertex {vertex}: {far} away, shown as {value}, not in {range:?}");
    }
    let touching = contact[..expected.len()].iter().filter(|near| **near > 150).count();
    println!("{touching} touch; the ball's triangles are up to {sunk} inside");
    assert!((5..expected.len() / 2).contains(&touching) && sunk < 2.0 * kept, "{touching}, {sunk}");
    let touch = |vertex: usize| match contact[vertex] {
        0 => Some(false),
        150.. => Some(true),
        _ => None,
    };
    seen_colour("contact", &touch, &|[r, g, _]| f64::from(r) > 1.35 * f64::from(g));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_cuts_squares_in_two_is_no_edge() {
    let baked = Baked::new(&SCENE.replace("size = [1.0, 1.0]", "size = [1.0, 1.0], quads = true"));
    let preview = Preview::of(&[&baked.job()]);
    let folder = pictures("quads");
    browse("heat", &json!({ "url": preview.address(), "frame": 1012, "folder": folder }));
    let mut movie = Movie::open(&baked.job()).unwrap();
    let vertices = frame_of(&mut movie, 1012);
    let rest = &movie.objects[0].rest;
    let length = |points: &[[f32; 3]], a: usize, b: usize| -> f64 {
        (0..3).map(|axis| (f64::from(points[a][axis]) - f64::from(points[b][axis])).powi(2)).sum::<f64>().sqrt()
    };
    let mut expected = vec![0.0_f64; 225];
    for a in 0..225 {
        // To the right and down: fifteen in a row.
        for b in [(a % 15 < 14).then_some(a + 1), (a < 210).then_some(a + 15)].into_iter().flatten() {
            let stretch = length(&vertices[0], a, b) / length(rest, a, b) - 1.0;
            for vertex in [a, b] {
                if stretch.abs() > expected[vertex].abs() {
                    expected[vertex] = stretch;
                }
            }
        }
    }
    let expected: Vec<f32> = expected.iter().map(|&stretch| stretch as f32).collect();
    let shown = numbers(&buffer(&folder, "stretch", 0, "stretch"));
    let in_rust = heat::stretch(&heat::polygon_edges(&movie.objects[0]), rest, &vertices[0]);
    assert!(expected.iter().any(|stretch| stretch.abs() > 1e-4));
    assert!(largest_difference(&shown[..225], &expected) < 2e-6 && largest_difference(&in_rust, &expected) < 2e-6);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn two_bakes_lie_beside_or_over_each_other() {
    let first = Baked::new(SCENE);
    let second = Baked::new(&SCENE.replace("translate = [0, 0.72, 0]", "translate = [0.45, 0.72, 0.1]"));
    let preview = Preview::of(&[&first.job(), &second.job()]);
    let folder = pictures("overlay");
    let frame = 1012;
    let seen = browse("overlay", &json!({ "url": preview.address(), "frame": frame, "folder": folder }));
    assert_eq!(seen["compare"], "side", "the key goes back");
    assert_ne!(seen["titles"][0], seen["titles"][1], "two bakes of a scene have names");
    let mut movies = [&first, &second].map(|baked| Movie::open(&baked.job()).unwrap());
    let vertices = movies.each_mut().map(|movie| frame_of(movie, frame));
    for (bake, vertices) in vertices.iter().enumerate() {
        assert_eq!(numbers(&buffer(&folder, "overlay", bake, "positions")), flat(vertices));
    }
    // Each in its half.
    let picture_beside = picture(&folder, "side");
    for bake in 0..2 {
        let mut camera = Camera::of(&seen["cameras"][0]);
        camera.left += bake as f64 * camera.width;
        let drawn = Drawn::new(&camera, &[(&movies[bake], &vertices[bake])]);
        let overlap = drawn.overlap(&picture_beside, |owner| owner == Some((0, 0)), is_red);
        println!("{bake}: {overlap:?}");
        assert!(overlap.expected > 1500 && overlap.shared > 0.95, "{overlap:?}");
    }
    // One over the other: where only one of them is, its colour alone is seen.
    let camera = Camera::of(&seen["cameras"][1]);
    let picture_over = picture(&folder, "overlay");
    let alone: Vec<Drawn> = (0..2).map(|bake| Drawn::new(&camera, &[(&movies[bake], &vertices[bake])])).collect();
    let is_bluish = |[r, _, b]: [u8; 3]| f64::from(b) > 1.12 * f64::from(r);
    let is_orange = |[r, _, b]: [u8; 3]| f64::from(r) > 1.6 * f64::from(b);
    for (bake, is_so) in [(0, &is_orange as &dyn Fn([u8; 3]) -> bool), (1, &is_bluish)] {
        let other = &alone[1 - bake];
        let hit = alone[bake].share(
            &picture_over,
            |place, owner| owner == Some((0, 0)) && other.owner(place).is_none(),
            is_so,
        );
        println!("{bake} alone: {hit:?}");
        assert!(hit.0 > 1000 && hit.1 > 0.93, "bake {bake}: {hit:?}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_running_bake_grows_and_is_seen_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("scene.toml");
    std::fs::write(&scene, SCENE.replace("1001-1012", "1001-1120")).unwrap();
    let job = folder.path().join("job");
    let bake = kiln(&["bake", text(&scene), "--out", text(&job), "--progress", "none"]).spawn();
    let mut bake = Running(bake.unwrap());
    while Movie::open(&job).map_or(0, |movie| movie.frames.len()) < 2 {
        assert!(bake.0.try_wait().unwrap().is_none(), "it ended before it was seen");
        std::thread::sleep(Duration::from_millis(5));
    }
    // It waits until the page is there.
    let halted = Command::new("kill").args(["-STOP", &bake.0.id().to_string()]).status().unwrap();
    assert!(halted.success());
    let preview = Preview::of(&[&job]);
    let seen = pictures("follows");
    let told = browse("follows", &json!({ "url": preview.address(), "bake": bake.0.id(), "folder": seen }));
    assert!(bake.0.wait().unwrap().success());
    let frames = |when: &str| told[when]["frames"].as_i64().unwrap();
    assert_eq!(told["start"]["status"], "running");
    assert!(frames("start") < frames("grown") && frames("grown") <= frames("done"), "{told}");
    assert_eq!(
        (frames("done"), &told["done"]["frame"], &told["done"]["status"]),
        (120, &json!(1120), &json!("complete"))
    );
    assert!(told["chips"][0].as_str().unwrap().starts_with("baking") && told["chips"][1] == "complete", "{told}");
    let mut movie = Movie::open(&job).unwrap();
    assert_eq!(numbers(&buffer(&seen, "last", 0, "positions")), flat(&frame_of(&mut movie, 1120)));
    std::fs::remove_dir_all(seen).unwrap();
}

#[test]
fn a_damaged_frame_is_named_and_those_beside_it_are_seen() {
    let baked = damaged_stream();
    let preview = Preview::of(&[&baked.job().join("sheet.glb")]);
    let told = browse("damaged", &json!({ "url": preview.address(), "beside": [1004, 1006], "damaged": 1005 }));
    let said = told["said"].as_str().unwrap();
    assert!(said.contains("frame 1005 of `sheet` has numbers that are not finite"), "{told}");
    assert_eq!(told["after"], "", "{told}");
}

#[test]
fn a_skinned_file_from_elsewhere_is_drawn() {
    let figure = Path::new(env!("CARGO_MANIFEST_DIR")).join("meshes/walking_figure.glb");
    let mut movie = Movie::open(&figure).unwrap();
    let frames = [movie.frames[0], movie.frames[movie.frames.len() / 8]];
    let preview = Preview::of(&[&figure]);
    let folder = pictures("figure");
    let seen =
        browse("frames", &json!({ "url": preview.address(), "frames": frames, "folder": folder, "offline": false }));
    let camera = Camera::of(&seen["camera"]);
    for frame in frames {
        let vertices = frame_of(&mut movie, frame);
        assert_eq!(numbers(&buffer(&folder, &frame.to_string(), 0, "positions")), flat(&vertices));
        let drawn = Drawn::new(&camera, &[(&movie, &vertices)]);
        let overlap = drawn.overlap(&picture(&folder, &frame.to_string()), |owner| owner.is_some(), is_red);
        println!("frame {frame}: {overlap:?}");
        assert!(overlap.expected > 5000 && overlap.shared > 0.95, "frame {frame}: {overlap:?}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_exported_page_opens_from_disk_without_a_network() {
    let baked = Baked::new(SCENE);
    let (job, page) = (baked.job(), baked.path("page.html"));
    let export = ["preview", text(&job), "--export", text(&page), "--every", "4", "--precision", "0.001"];
    let output = kiln(&export).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let bytes = std::fs::metadata(&page).unwrap().len();
    assert!(said.contains(&format!("{:.1} MB, 4 frames", bytes as f64 / 1e6)), "{said}: {bytes} bytes");
    // Alone in a folder, as a mail has it.
    let mailed = tempfile::tempdir().unwrap();
    let copy = mailed.path().join("a page.html");
    std::fs::copy(&page, &copy).unwrap();
    drop(std::fs::remove_dir_all(baked.job().join("rest")));
    let folder = pictures("exported");
    let frames = [1001, 1005, 1012];
    let url = format!("file://{}", copy.display().to_string().replace(' ', "%20"));
    let seen = browse("frames", &json!({ "url": url, "frames": frames, "folder": folder, "offline": true }));
    assert_eq!(seen["foreign"], json!([]));
    assert_eq!(seen["state"]["frames"], json!([1001, 1005, 1009, 1012]));
    assert!(seen["state"]["marks"].as_array().is_some_and(|marks| !marks.is_empty()), "its graphs are there");
    let mut store = StoreReader::open(&baked.job().join("bake.kc")).unwrap();
    let mut stored = StoredFrame::default();
    for frame in frames {
        store.read((frame - 1001) as usize, &mut stored).unwrap();
        let sheet: Vec<f32> = stored.objects[0].positions.iter().flatten().copied().collect();
        let shown = numbers(&buffer(&folder, &frame.to_string(), 0, "positions"));
        // Along each axis; together they are as far off as was asked for.
        let error = largest_difference(&shown[..sheet.len()], &sheet);
        assert!(error < 1.001e-3 / 3.0_f32.sqrt() && error > 0.0, "frame {frame}: {error}");
        let red = picture(&folder, &frame.to_string()).pixels().filter(|pixel| is_red(pixel.0)).count();
        assert!(red > 3000, "frame {frame}: {red} pixels of the sheet");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
