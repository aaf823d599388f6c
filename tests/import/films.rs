//! What a glTF file claims about its frames, as pictures and previews take it: a bound for everything, never a crash.

use kiln::bake::Exit;
use kiln::bake::movie::Movie;
use serde_json::{Value as Json, json};

use crate::sample::*;

/// A triangle that goes from one place to another.
fn moving(times: [f32; 2], to: f32) -> Sample {
    let mut s = triangle();
    let (input, output) = (s.floats(&times, "SCALAR"), s.floats(&[0., 0., 0., to, 0., 0.], "VEC3"));
    let target = json!({ "node": 0, "path": "translation" });
    let (channels, samplers) =
        (json!([{ "sampler": 0, "target": target }]), [json!({ "input": input, "output": output })]);
    s.push("animations", json!({ "samplers": samplers, "channels": channels }));
    s
}

/// A triangle with raw frames beside it.
fn streamed(frames: Json) -> Sample {
    let mut s = triangle();
    let noted = json!({ "uri": "raw.bin", "vertices": 3, "frames": frames, "fps": [24, 1] });
    s.json["meshes"][0]["extras"] = json!({ "kiln_frames": noted });
    s
}

/// Opens a file beside the raw frames of a triangle and reads all its frames: their numbers, or what is wrong.
fn watch(sample: &Sample, raw: &[f32]) -> Result<(f64, Vec<i64>), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.glb");
    std::fs::write(&path, sample.glb()).unwrap();
    std::fs::write(folder.path().join("raw.bin"), floats(raw)).unwrap();
    let mut vertices = Vec::new();
    let all = Movie::open(&path).and_then(|mut movie| {
        (0..movie.frames.len()).try_for_each(|place| movie.read(place, &mut vertices))?;
        Ok((movie.fps, movie.frames))
    });
    all.map_err(|failure| {
        assert_eq!(failure.exit, Exit::InvalidInput, "{}", failure.cause);
        assert!(!failure.remedy.is_empty());
        format!("{}; {}", failure.cause, failure.remedy)
    })
}

#[track_caller]
fn refused(sample: &Sample, raw: &[f32], words: [&str; 2]) {
    let said = watch(sample, raw).unwrap_err();
    assert!(words.iter().all(|words| said.contains(words)), "{words:?}: {said}");
}

#[test]
fn animations_without_end_are_refused() {
    assert_eq!(watch(&moving([0.0, 1.0], 1.0), &[]).unwrap(), (30.0, (0..=30).collect::<Vec<_>>()));
    assert_eq!(watch(&moving([0.0, 3333.0], 1.0), &[]).unwrap().1.len(), 99_991);
    for end in [3334.0, 1e9, 1e20, 3e38] {
        refused(&moving([0.0, end], 1.0), &[], ["its animation has", "export a shorter one"]);
    }
}

#[test]
fn rates_and_numbers_that_mean_nothing_are_passed_over() {
    for (fps, first, expected) in [
        (json!([24, 1]), 1001, (24.0, 1001, 25)),
        (json!([1e12, 1]), 1, (30.0, 0, 31)),
        (json!([1, 1e-300]), 1, (30.0, 0, 31)),
        (json!([24, 1]), i64::MAX, (30.0, 0, 31)),
    ] {
        let mut sample = moving([0.0, 1.0], 1.0);
        sample.json["scenes"][0]["extras"] = json!({ "fps": fps, "first_frame": first });
        let (rate, frames) = watch(&sample, &[]).unwrap();
        assert_eq!((rate, frames[0], frames.len()), expected, "{fps}, {first}");
    }
}

#[test]
fn raw_frames_are_as_many_as_the_file_has_and_ascend() {
    let two = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].repeat(2);
    let run = |first: i64, step: i64, count: i64| streamed(json!({ "first": first, "step": step, "count": count }));
    assert_eq!(watch(&run(5, 2, 2), &two).unwrap(), (24.0, vec![5, 7]));
    assert_eq!(watch(&streamed(json!([3, 9])), &two).unwrap().1, [3, 9]);
    for count in [3, 1_000_000_000_000_000_000] {
        refused(&run(1, 1, count), &two, ["too short", "bake again"]);
    }
    for wrong in [run(1, 1, -5), run(i64::MAX, 1, 2), run(1, i64::MAX, 2), streamed(json!("all"))] {
        refused(&wrong, &two, ["described wrongly", "bake it again"]);
    }
    for wrong in [run(5, -1, 2), run(5, 0, 2), streamed(json!([9, 3])), streamed(json!([3, 3]))] {
        refused(&wrong, &two, ["do not ascend", "bake it again"]);
    }
    let mut fast = run(1, 1, 2);
    fast.json["meshes"][0]["extras"]["kiln_frames"]["fps"] = json!([1e12, 1]);
    refused(&fast, &two, ["frame rate", "bake it again"]);
}

#[test]
fn numbers_that_are_not_finite_get_nowhere() {
    for bad in [f32::NAN, f32::INFINITY] {
        let mut raw = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].repeat(2);
        raw[13] = bad;
        let sample = streamed(json!({ "first": 7, "step": 1, "count": 2 }));
        refused(&sample, &raw, ["frame 8 of `triangle` has numbers that are not finite", "bake or export it again"]);
    }
    let mut far = moving([0.0, 1.0], 3.4e38);
    far.json["nodes"][0]["scale"] = json!([3e38, 1.0, 1.0]);
    refused(&far, &[], ["numbers that are not finite", "export it again"]);
}
