//! The server of the preview.

use std::time::Duration;

use kiln::bake::movie::Movie;
use kiln::cache::store::{StoreReader, StoredFrame};
use kiln::preview::content::{Bake, Stream};

use super::{Baked, Preview, Running, SCENE, damaged_stream, kiln, numbers, text};

#[test]
fn frames_are_those_of_the_stores() {
    let baked = Baked::new(SCENE);
    let preview = Preview::of(&[&baked.job()]);
    let scene = preview.json("/scene.json");
    let bake = &scene["bakes"][0];
    let names: Vec<&str> = bake["objects"].as_array().unwrap().iter().map(|o| o["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["sheet", "ball", "floor"]);
    assert_eq!(bake["fps"], 24.0);
    assert_eq!(bake["frames"].as_array().unwrap().len(), 12);
    assert_eq!(bake["frames"][0], 1001);
    let stride = bake["bytes_per_frame"].as_u64().unwrap();
    let (head, body) =
        preview.ask("GET", "/bake/0/frames.bin", &format!("Range: bytes={}-{}\r\n", 5 * stride, 6 * stride - 1));
    assert!(head.starts_with("HTTP/1.1 206"), "{head}");
    assert!(
        head.contains(&format!("Content-Range: bytes {}-{}/{}", 5 * stride, 6 * stride - 1, 12 * stride)),
        "{head}"
    );
    let places = numbers(&body);
    let mut frame = StoredFrame::default();
    StoreReader::open(&baked.job().join("bake.kc")).unwrap().read(5, &mut frame).unwrap();
    let sheet: Vec<f32> = frame.objects[0].positions.iter().flatten().copied().collect();
    assert_eq!(places[..sheet.len()], sheet);
    // The ball moves from frame to frame, all of it alike.
    let ball = bake["objects"][1]["vertices"].as_u64().unwrap() as usize;
    let ball_at = |place: u64| -> Vec<f32> {
        let range = format!("Range: bytes={}-{}\r\n", place * stride, (place + 1) * stride - 1);
        let all = numbers(&preview.ask("GET", "/bake/0/frames.bin", &range).1);
        all[sheet.len()..sheet.len() + 3 * ball].to_vec()
    };
    let way = |from: &[f32], to: &[f32]| from.iter().zip(to).step_by(3).map(|(a, b)| b - a).collect::<Vec<f32>>();
    let moved = way(&ball_at(0), &ball_at(11));
    assert!(moved.iter().all(|way| (way - 0.1).abs() < 1e-6), "{moved:?}");
    assert_eq!(bake["objects"][2]["still"], true);
}

#[test]
fn ranges_are_those_of_http() {
    let baked = Baked::new(SCENE);
    let preview = Preview::of(&[&baked.job()]);
    let (head, whole) = preview.get("/bake/0/frames.bin");
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("Accept-Ranges: bytes"), "{head}");
    let ask = |range: &str| preview.ask("GET", "/bake/0/frames.bin", &format!("Range: {range}\r\n"));
    let stride = preview.json("/scene.json")["bakes"][0]["bytes_per_frame"].as_u64().unwrap() as usize;
    let length = whole.len();
    assert_eq!(length, 12 * stride);
    // Across frames, open at the end, the last bytes, more than there is.
    for (range, expected) in [
        (format!("bytes={}-{}", stride - 7, 2 * stride + 5), stride - 7..2 * stride + 6),
        (format!("bytes={}-", length - 9), length - 9..length),
        ("bytes=-9".to_owned(), length - 9..length),
        (format!("bytes={}-{}", length - 3, length + 1000), length - 3..length),
        ("bytes=0-0".to_owned(), 0..1),
    ] {
        let (head, body) = ask(&range);
        assert!(head.starts_with("HTTP/1.1 206"), "{range}: {head}");
        assert_eq!(body, whole[expected], "{range}");
    }
    for range in [format!("bytes={length}-"), "bytes=-0".to_owned(), "bytes=99999999999999999999-".to_owned()] {
        let (head, body) = ask(&range);
        assert!(head.starts_with("HTTP/1.1 416") && head.contains(&format!("bytes */{length}")), "{range}: {head}");
        assert!(body.is_empty());
    }
    // What is no range is passed over, as HTTP has it.
    for range in ["bytes=5-1", "bytes=a-b", "frames=1-2", "bytes=0-1,5-6", "bytes=-"] {
        let (head, body) = ask(range);
        assert!(head.starts_with("HTTP/1.1 200"), "{range}: {head}");
        assert_eq!(body.len(), length, "{range}");
    }
    let (head, body) = preview.ask("HEAD", "/bake/0/frames.bin", "");
    assert!(head.contains(&format!("Content-Length: {length}")) && body.is_empty(), "{head}");
}

#[test]
fn nothing_outside_of_the_bake_can_be_reached() {
    let baked = Baked::new(SCENE);
    std::fs::write(baked.path("secret.txt"), "a secret").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(baked.path("secret.txt"), baked.job().join("link.txt")).unwrap();
    let preview = Preview::of(&[&baked.job()]);
    for target in [
        "/../secret.txt",
        "/bake/0/../../secret.txt",
        "/bake/0/%2e%2e/%2e%2e/secret.txt",
        "/bake/0/..%2f..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/bake/0/link.txt",
        "/link.txt",
        "/bake/0/manifest.json",
        "/bake/1/frames.bin",
        "/bake/00/frames.bin",
        "/bake/-1/frames.bin",
        "//etc/passwd",
        "/etc/passwd",
        "/bake/0/",
        "http://127.0.0.1/etc/passwd",
    ] {
        let (head, body) = preview.get(target);
        assert!(head.starts_with("HTTP/1.1 404"), "{target}: {head}");
        assert!(!String::from_utf8_lossy(&body).contains("secret"), "{target}");
    }
    // A log that is a link to something else shows nothing of it.
    #[cfg(unix)]
    {
        let log = baked.job().join("frames.jsonl");
        std::fs::remove_file(&log).unwrap();
        std::os::unix::fs::symlink(baked.path("secret.txt"), &log).unwrap();
        let (_, body) = preview.get("/bake/0/frames.jsonl");
        assert!(!String::from_utf8_lossy(&body).contains("a secret"));
    }
    let foreign = format!("GET / HTTP/1.1\r\nHost: example.com:{}\r\nConnection: close\r\n\r\n", preview.port);
    assert!(preview.raw(&foreign).starts_with(b"HTTP/1.1 403"));
    // A page elsewhere whose name points to this machine is foreign whatever it asks for, and sends its own name.
    for (host, status) in [("rebound.example.com", "403"), ("127.0.0.1.example.com", "403"), ("localhost", "200")] {
        let asked = format!("GET /scene.json HTTP/1.1\r\nHost: {host}:{}\r\nConnection: close\r\n\r\n", preview.port);
        let answer = String::from_utf8_lossy(&preview.raw(&asked)).into_owned();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{host}: {answer}");
        assert!(!answer.to_ascii_lowercase().contains("access-control-allow"), "other pages may not read it");
    }
    assert!(preview.raw("GET / HTTP/1.1\r\nConnection: close\r\n\r\n").starts_with(b"HTTP/1.1 403"));
    assert!(preview.raw("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").starts_with(b"HTTP/1.1 400"));
    assert!(preview.raw("nonsense\r\n\r\n").starts_with(b"HTTP/1.1 400"));
    let endless = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", "a".repeat(100_000));
    let answer = std::panic::catch_unwind(|| preview.raw(&endless));
    assert!(answer.is_err() || answer.is_ok_and(|answer| answer.starts_with(b"HTTP/1.1 400")));
    assert!(preview.get("/").0.starts_with("HTTP/1.1 200"), "it goes on after all that");
}

#[test]
fn it_listens_on_this_machine_only() {
    let baked = Baked::new(SCENE);
    let preview = Preview::of(&[&baked.job()]);
    // Every address of this machine but the loopback is refused. 0.0.0.0 would take all.
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let port = format!(":{:04X}", preview.port);
    let listening: Vec<&str> = table.lines().filter(|line| line.contains(" 0A ") && line.contains(&port)).collect();
    assert_eq!(listening.len(), 1, "{table}");
    assert!(listening[0].contains(&format!("0100007F{port}")), "{listening:?}");
}

#[test]
fn two_previews_run_at_once_and_ctrl_c_leaves_nothing_behind() {
    let baked = Baked::new(SCENE);
    let list = || {
        let mut names: Vec<_> = std::fs::read_dir(baked.job()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = list();
    let mut first = Preview::of(&[&baked.job()]);
    let second = Preview::of(&[&baked.job()]);
    assert_ne!(first.port, second.port);
    assert_eq!(first.json("/scene.json"), second.json("/scene.json"));
    let interrupted =
        std::process::Command::new("kill").args(["-INT", &first.process.0.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let ended = first.process.0.wait().unwrap();
    // What ends by the signal is 130 in a shell, as every command of Kiln.
    #[cfg(unix)]
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(2), "{ended:?}");
    assert!(std::net::TcpStream::connect(("127.0.0.1", first.port)).is_err());
    assert!(second.get("/").0.starts_with("HTTP/1.1 200"));
    assert_eq!(list(), before);
}

#[test]
fn a_running_bake_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("scene.toml");
    std::fs::write(&scene, SCENE.replace("1001-1012", "1001-4000")).unwrap();
    let job = folder.path().join("job");
    let bake = kiln(&["bake", text(&scene), "--out", text(&job), "--progress", "none"]).spawn();
    let mut bake = Running(bake.unwrap());
    while Movie::open(&job).map_or(0, |movie| movie.frames.len()) < 2 {
        assert!(bake.0.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    let preview = Preview::of(&[&job]);
    let count = || preview.json("/bake/0/status.json")["frames"].as_array().unwrap().len();
    assert_eq!(preview.json("/bake/0/status.json")["status"], "running");
    let first = count();
    let start = std::time::Instant::now();
    while count() == first {
        assert!(start.elapsed() < Duration::from_secs(60), "no more than {first} frames");
        std::thread::sleep(Duration::from_millis(20));
    }
    bake.0.kill().unwrap();
    bake.0.wait().unwrap();
    let stride = preview.json("/scene.json")["bakes"][0]["bytes_per_frame"].as_u64().unwrap();
    let last = count() as u64 - 1;
    let (head, body) = preview.ask("GET", "/bake/0/frames.bin", &format!("Range: bytes={}-\r\n", last * stride));
    assert!(head.starts_with("HTTP/1.1 206"), "{head}");
    assert_eq!(body.len() as u64, stride);
}

/// A bake that is started again while it is looked at: nothing of before is shown as new.
#[test]
fn a_bake_that_was_started_again_is_read_anew() {
    let baked = Baked::new(SCENE);
    let (scene, job) = (baked.path("scene.toml"), baked.job());
    let manifest = job.join("manifest.json");
    let say_running = || {
        let written = std::fs::read_to_string(&manifest).unwrap();
        let mut json: serde_json::Value = serde_json::from_str(&written).unwrap();
        json["status"] = "running".into();
        std::fs::write(&manifest, json.to_string()).unwrap();
    };
    let bake_again = |text_of: &str| {
        std::fs::write(&scene, text_of).unwrap();
        let restart = ["bake", text(&scene), "--out", text(&job), "--progress", "none", "--restart"];
        assert!(kiln(&restart).status().unwrap().success());
        say_running();
    };
    say_running();
    let mut bake = Bake::new(Movie::open(&job).unwrap());
    let size = bake.frame_bytes(Stream::Frames) as usize;
    let before = bake.stream(Stream::Frames, 3, 0..size).unwrap();
    let other = SCENE.replace("[0, 0.72, 0]", "[0, 0.95, 0]");
    bake_again(&other);
    bake.refresh().unwrap();
    let after = bake.stream(Stream::Frames, 3, 0..size).unwrap();
    assert_ne!(before, after);
    assert_eq!(after, Bake::new(Movie::open(&job).unwrap()).stream(Stream::Frames, 3, 0..size).unwrap());
    assert!(bake.stream(Stream::Frames, 3, size..size + 1).is_err(), "more than a frame has");
    bake_again(&other.replace("[15, 15]", "[9, 9]"));
    let said = bake.refresh().unwrap_err();
    assert!(said.cause.contains("`sheet` is no longer the mesh it was"), "{}", said.cause);
    assert_eq!(said.remedy, "start the preview again");
}

/// A damaged frame is an answer that says so; the others are there.
#[test]
fn a_damaged_frame_says_what_is_wrong() {
    let baked = damaged_stream();
    let preview = Preview::of(&[&baked.job().join("sheet.glb")]);
    let stride = preview.json("/scene.json")["bakes"][0]["bytes_per_frame"].as_u64().unwrap();
    let ask = |place: u64| {
        let range = format!("Range: bytes={}-{}\r\n", place * stride, (place + 1) * stride - 1);
        preview.ask("GET", "/bake/0/frames.bin", &range)
    };
    let (head, body) = ask(4);
    assert!(head.starts_with("HTTP/1.1 500"), "{head}");
    let said = String::from_utf8_lossy(&body).into_owned();
    assert!(said.contains("frame 1005") && said.contains("not finite") && said.contains("again"), "{said}");
    assert!([3, 5].iter().all(|place| ask(*place).0.starts_with("HTTP/1.1 206")));
}

#[test]
fn what_cannot_be_looked_at_is_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mesh.obj"), "v 0 0 0\n").unwrap();
    std::fs::write(folder.path().join("empty.glb"), "").unwrap();
    for (name, says) in [
        ("nothing", "check the path"),
        (".", "not a job folder"),
        ("mesh.obj", "nothing that can be looked at"),
        ("empty.glb", "empty.glb"),
    ] {
        let path = folder.path().join(name);
        let output = kiln(&["preview", text(&path)]).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{name}: {error}");
        assert!(error.contains(says), "{name}: {error}");
    }
}

#[test]
fn a_skinned_file_moves_as_kiln_moves_it() {
    let figure = concat!(env!("CARGO_MANIFEST_DIR"), "/meshes/walking_figure.glb");
    let mut movie = Movie::open(figure.as_ref()).unwrap();
    assert!(movie.frames.len() > 10, "{:?}", movie.frames);
    let mut frames = [Vec::new(), Vec::new()];
    movie.read(0, &mut frames[0]).unwrap();
    // Two seconds hold two rounds of its walk.
    movie.read(movie.frames.len() / 8, &mut frames[1]).unwrap();
    let far = |(a, b): (&[f32; 3], &[f32; 3])| (0..3).map(|n| (a[n] - b[n]).powi(2)).sum::<f32>().sqrt();
    let farthest = frames[0][0].iter().zip(&frames[1][0]).map(far).fold(0.0, f32::max);
    assert!((0.1..2.0).contains(&farthest), "{farthest}");
}

#[test]
fn glb_files_of_a_bake_show_what_its_store_has() {
    for glb in ["{}", "{ quantize = true }", "{ mode = \"stream\" }"] {
        let baked = Baked::new(&format!("{SCENE}glb = {glb}\n"));
        let mut job = Movie::open(&baked.job()).unwrap();
        let mut file = Movie::open(&baked.job().join("sheet.glb")).unwrap();
        assert_eq!(job.frames, file.frames, "{glb}");
        assert_eq!(job.fps, file.fps);
        let (mut stored, mut shown) = (Vec::new(), Vec::new());
        for place in [0, 5, 11] {
            job.read(place, &mut stored).unwrap();
            file.read(place, &mut shown).unwrap();
            let apart = stored[0].iter().zip(&shown[0]).flat_map(|(a, b)| (0..3).map(|n| (a[n] - b[n]).abs()));
            let apart = apart.fold(0.0, f32::max);
            assert!(apart < if glb.contains("quantize") { 5e-5 } else { 1e-6 }, "{glb}, frame {place}: {apart}");
        }
    }
}
