//! From what was typed to what is meant: defaults filled in, ranges checked, files found. Collects every problem.

use std::path::Path;

use super::file::{FpsText, FramesText, Keyable, OutputSection, SceneFile, SubstepsText, Triple};
use super::frames::{FrameList, parse_frames};
use super::pattern::Pattern;
use super::problem::{KeyPath, Place, Problem};
use super::{Format, FrameRate, Gates, GlbMode, Output, Scene, Substeps, Wind};
use crate::math::Vec3;
use crate::math::curve::{Blend, Curve, Interpolation};

/// How frames are written, for people who wrote them otherwise.
pub const FRAMES_HELP: &str = "write frames as `1001-1120`, `1-100x2`, or a list such as `1,5,10-20`";

/// Resolves a scene whose relative paths start at `folder`. Where a problem is an error, anything stands in.
pub fn resolve(file: &SceneFile, folder: &Path) -> (Scene, Vec<Problem>) {
    let mut resolver = Resolver { folder, problems: Vec::new() };
    let scene = resolver.scene(file);
    (scene, resolver.problems)
}

/// Collects problems. Every step returns a value that lets the next ones go on.
pub(super) struct Resolver<'a> {
    pub(super) folder: &'a Path,
    pub(super) problems: Vec<Problem>,
}

impl Resolver<'_> {
    pub(super) fn error(&mut self, path: &KeyPath, message: impl Into<String>) {
        self.problems.push(Problem::error(Place::Scene(path.clone()), message));
    }

    pub(super) fn error_with_help(&mut self, path: &KeyPath, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Problem::error(Place::Scene(path.clone()), message).help(help));
    }

    fn scene(&mut self, file: &SceneFile) -> Scene {
        let root = KeyPath::default();
        let section = root.key("scene");
        self.name(&file.scene.name, &section.key("name"));
        let frames = self.frames(&file.scene.frames, &section.key("frames"));
        let wind = root.key("wind");
        let mut scene = Scene {
            name: file.scene.name.clone(),
            fps: self.fps(&file.scene.fps, &section.key("fps")),
            first_frame: frames.first,
            last_frame: frames.last,
            written_frames: frames.frames,
            preroll: file.scene.preroll,
            settle: file.scene.settle,
            dress_blend: file.scene.dress_blend,
            substeps: self.substeps(&file.scene.substeps, &section.key("substeps")),
            gravity: self.vectors(&file.scene.gravity, &section.key("gravity")),
            wind: Wind {
                direction: self.directions(&file.wind.direction, &wind.key("direction")),
                speed: self.amounts(&file.wind.speed, &wind.key("speed")),
                gust: self.amounts(&file.wind.gust, &wind.key("gust")),
                turbulence: self.amounts(&file.wind.turbulence, &wind.key("turbulence")),
                seed: file.wind.seed,
            },
            drag: self.amounts(&file.air.drag, &root.key("air").key("drag")),
            cloths: self.cloths(&file.cloth, &file.collider),
            soft_bodies: self.soft_bodies(&file.soft_body, &file.collider),
            colliders: self.colliders(&file.collider),
            contacts: Vec::new(),
            output: self.output(&file.output, file.cloth.len() + file.soft_body.len(), &root.key("output")),
            gates: Gates {
                max_stretch: file.gates.max_stretch,
                max_constraint_stretch: file.gates.max_constraint_stretch,
                max_penetration: file.gates.max_penetration,
                max_crossings: file.gates.max_crossings,
                max_volume_error: file.gates.max_volume_error,
            },
        };
        if scene.cloths.is_empty() && scene.soft_bodies.is_empty() {
            let help = "add a [[cloth]] or a [[soft_body]] with a `name` and a `mesh`";
            self.error_with_help(&root.key("cloth"), "there is no cloth and no soft body in this scene", help);
        }
        self.unique_names(file);
        self.contacts(file, &mut scene);
        scene
    }

    fn frames(&mut self, typed: &FramesText, path: &KeyPath) -> FrameList {
        let text = match typed {
            FramesText::One(frame) => frame.to_string(),
            FramesText::Ranges(text) => text.clone(),
        };
        parse_frames(&text).unwrap_or_else(|message| {
            self.error_with_help(path, message, FRAMES_HELP);
            FrameList { first: 0, last: 0, frames: vec![0] }
        })
    }

    fn fps(&mut self, typed: &FpsText, path: &KeyPath) -> FrameRate {
        let parsed = match typed {
            FpsText::Whole(fps) => Some((*fps, 1)),
            FpsText::Fraction(text) => {
                let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
                numerator.trim().parse().ok().zip(denominator.trim().parse().ok())
            }
        };
        match parsed {
            Some((numerator, denominator)) if numerator > 0 && denominator > 0 => FrameRate { numerator, denominator },
            _ => {
                let help = "write a whole number above 0, or a fraction such as \"24000/1001\"";
                self.error_with_help(path, "this is no frame rate", help);
                FrameRate { numerator: 24, denominator: 1 }
            }
        }
    }

    fn substeps(&mut self, typed: &SubstepsText, path: &KeyPath) -> Substeps {
        match (typed, Substeps::AUTO) {
            (SubstepsText::Bounded(bounds), Substeps::Auto { least, most }) => {
                // One bound alone moves the other's default out of its way.
                let [min, max] = [bounds.min.unwrap_or(least), bounds.max.unwrap_or(most)];
                if bounds.max.is_some() && min > max {
                    let message = format!("`min` is {min}, but `max` is only {max}");
                    self.error_with_help(path, message, "exchange them, or leave one of them out");
                }
                Substeps::Auto { least: min, most: max.max(min) }
            }
            (SubstepsText::Fixed(count), _) => Substeps::Fixed(*count),
            (_, automatic) => automatic,
        }
    }

    fn output(&mut self, section: &OutputSection, body_count: usize, path: &KeyPath) -> Output {
        let mut formats = section.formats.clone();
        formats.sort();
        formats.dedup();
        let typed = section.glb;
        if typed.mode == GlbMode::Stream && (typed.quantize || typed.sparse || typed.normals) {
            let message = "`quantize`, `sparse` and `normals` are about morph targets, and mode \"stream\" has none";
            self.error_with_help(&path.key("glb"), message, "leave them out, or use mode = \"morph\"");
        }
        let path = path.key("pattern");
        match Pattern::parse(&section.pattern) {
            Err(message) => {
                let help = "write it like `{object}.####`; {scene} and {object} are filled in";
                self.error_with_help(&path, message, help);
            }
            Ok(pattern) => {
                if body_count > 1 && !pattern.has_object() {
                    let message = format!("{body_count} objects would be written under one name");
                    self.error_with_help(&path, message, "put `{object}` into the pattern");
                }
                if formats.contains(&Format::Obj) && !pattern.has_frame() {
                    let help = "put `####` into the pattern, such as `{object}.####`";
                    self.error_with_help(&path, "all frames of an OBJ sequence would be written under one name", help);
                }
            }
        }
        Output {
            formats,
            unit: section.unit,
            up: section.up,
            pattern: section.pattern.replace('\\', "/"),
            space: section.space,
            glb: section.glb,
            colliders: section.colliders,
        }
    }

    /// A curve; `fault` says what is wrong with a value, if anything.
    pub(super) fn curve<T: Blend>(
        &mut self,
        typed: &Keyable<T>,
        path: &KeyPath,
        fault: impl Fn(T) -> Option<&'static str>,
    ) -> Option<Curve<T>> {
        let keyed = match typed {
            Keyable::Constant(value) => {
                if let Some(fault) = fault(*value) {
                    self.error(path, fault);
                }
                return Some(Curve::constant(*value));
            }
            Keyable::Keyed(keyed) => keyed,
        };
        let keys_path = path.key("keys");
        for (index, (_, value)) in keyed.keys.iter().enumerate() {
            if let Some(fault) = fault(*value) {
                self.error(&keys_path.index(index).index(1), fault);
            }
        }
        for (index, pair) in keyed.keys.windows(2).enumerate() {
            if pair[0].0 >= pair[1].0 {
                let message = format!("the frames of keys must ascend, but {} follows {}", pair[1].0, pair[0].0);
                self.error(&keys_path.index(index + 1).index(0), message);
            }
        }
        Curve::from_keys(keyed.keys.clone(), keyed.interpolation)
    }

    /// Amounts may be zero, but not less.
    pub(super) fn amounts(&mut self, typed: &Keyable<f64>, path: &KeyPath) -> Curve<f64> {
        let fault = |number: f64| (number < 0.0).then_some("this must not be negative");
        self.curve(typed, path, fault).unwrap_or_else(|| Curve::constant(0.0))
    }

    pub(super) fn vectors(&mut self, typed: &Keyable<Triple>, path: &KeyPath) -> Curve<Vec3> {
        let still = || Curve::constant(Vec3::zeros());
        self.curve(&typed_vectors(typed), path, |_| None).unwrap_or_else(still)
    }

    fn directions(&mut self, typed: &Keyable<Triple>, path: &KeyPath) -> Curve<Vec3> {
        let typed = typed_vectors(typed);
        let fault = |vector: Vec3| (vector.norm() == 0.0).then_some("a direction must not be zero");
        if let Keyable::Keyed(keyed) = &typed
            && keyed.interpolation != Interpolation::Step
        {
            for (index, pair) in keyed.keys.windows(2).enumerate() {
                let [from, to] = [pair[0].1.normalize(), pair[1].1.normalize()];
                if (from + to).norm() < 1e-6 {
                    let message = "the way from the previous key's direction to its opposite leads through zero";
                    let help = "add a key between them that says which way round";
                    self.error_with_help(&path.key("keys").index(index + 1).index(1), message, help);
                }
            }
        }
        self.curve(&typed, path, fault).unwrap_or_else(|| Curve::constant(Vec3::x()))
    }
}

fn typed_vectors(typed: &Keyable<Triple>) -> Keyable<Vec3> {
    match typed {
        Keyable::Constant(value) => Keyable::Constant(Vec3::from(*value)),
        Keyable::Keyed(keyed) => Keyable::Keyed(super::file::Keyed {
            keys: keyed.keys.iter().map(|(frame, value)| (*frame, Vec3::from(*value))).collect(),
            interpolation: keyed.interpolation,
        }),
    }
}
