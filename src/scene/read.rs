//! The way in: from a path or a text to a scene, or to everything that is wrong with it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use schemars::generate::SchemaSettings;
use serde_json::Value as Json;

use super::deserialize::from_tree;
use super::document::Document;
use super::file::SceneFile;
use super::frames::parse_frames;
use super::problem::{Key, KeyPath, Place, Problem, Severity, Span};
use super::resolve::{FRAMES_HELP, resolve};
use super::tree::Node;
use super::{Scene, diagnostics, stand_in, validate};

/// Scene files are typed by people; what is larger is another kind of file.
const MAX_FILE_SIZE: u64 = 64 << 20;

/// A scene that can be baked.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The scene.
    pub scene: Scene,
    /// Its text, for problems that later stages find.
    pub document: Document,
    /// Warnings.
    pub problems: Vec<Problem>,
}

/// Why there is no scene.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The text that problems point into, if it could be read.
    pub document: Option<Document>,
    /// All that is wrong, in the order of the text; at least one error.
    pub problems: Vec<Problem>,
    /// The scene as far as it is known, for later stages to find more; anything stands in for what is wrong.
    pub scene: Option<Box<Scene>>,
}

/// Reads a scene file. `overrides` are `--set` arguments, `frames` is the `--frames` argument.
pub fn read(path: &Path, overrides: &[String], frames: Option<&str>) -> Result<Resolved, Failure> {
    let text = read_file(path).map_err(|problem| Failure { document: None, problems: vec![*problem], scene: None })?;
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    read_text(&path.display().to_string(), &text, &folder, overrides, frames)
}

/// The same for a text; `name` stands for its path in messages, relative paths in it start at `folder`.
pub fn read_text(
    name: &str,
    text: &str,
    folder: &Path,
    overrides: &[String],
    frames: Option<&str>,
) -> Result<Resolved, Failure> {
    let (mut document, mut problems) = Document::parse(name, text);
    let mut partial = None;
    // Half a tree is not worth checking.
    if problems.is_empty() {
        for argument in overrides {
            problems.extend(document.set(argument).err().unwrap_or_default());
        }
        let selection = frames.map(|typed| Selection::parse(typed, &mut document, &mut problems));
        let (scene, more) = check(&document.root, folder);
        let is_sound = |problems: &[Problem]| problems.iter().all(|problem| problem.severity == Severity::Warning);
        let frames_are_known = is_sound(&more);
        problems.extend(more);
        if let Some(mut scene) = scene {
            if let Some(Some(selection)) = selection
                && frames_are_known
            {
                selection.apply(&mut scene, &mut problems);
            }
            if is_sound(&problems) {
                return Ok(Resolved { scene, document, problems });
            }
            partial = Some(Box::new(scene));
        }
    }
    problems.sort_by_cached_key(|problem| document.span(&problem.place).map(|span| (span.source, span.range.start)));
    Err(Failure { document: Some(document), problems, scene: partial })
}

/// The JSON schema of scene files, draft 2020-12.
pub fn schema() -> Json {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<SceneFile>().to_value();
    without_null(&mut schema);
    schema
}

/// TOML has no null: what may be left out is just not required.
fn without_null(schema: &mut Json) {
    match schema {
        Json::Object(map) => {
            map.retain(|_, value| !value.is_null());
            if let Some(Json::Array(types)) = map.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    map.insert("type".to_owned(), only);
                }
            }
            if let Some(Json::Array(branches)) = map.get_mut("anyOf") {
                branches.retain(|branch| branch.get("type").is_none_or(|name| name != "null"));
                if let [Json::Object(only)] = branches.as_slice() {
                    let only = only.clone();
                    map.remove("anyOf");
                    only.into_iter().for_each(|(key, value)| {
                        map.entry(key).or_insert(value);
                    });
                }
            }
            map.values_mut().for_each(without_null);
        }
        Json::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}

fn read_file(path: &Path) -> Result<String, Box<Problem>> {
    let problem = |message: String| Box::new(Problem::error(Place::File(path.to_owned()), message));
    let unreadable = |error: std::io::Error| problem(format!("cannot read the scene file: {error}"));
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(problem("this is a folder, not a scene file".to_owned()));
    }
    // Counted while reading, because pipes do not tell their size.
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MAX_FILE_SIZE + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE_SIZE {
        return Err(problem("this is too large to be a scene file".to_owned()));
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        problem(format!("this is not a text file in UTF-8: byte {offset} belongs to no character"))
    })
}

/// Checks a tree in all ways. What is unknown or of the wrong kind is left out before the meaning is checked, and what
/// is required is stood in for, so that one run finds problems of both sorts.
fn check(root: &Node, folder: &Path) -> (Option<Scene>, Vec<Problem>) {
    let schema = schema();
    let mut problems = validate::check(root, &schema);
    if problems.len() > diagnostics::MAX_SHOWN {
        return (None, problems); // more would not be shown, and a file that wrong can have any size
    }
    let mut root = root.clone();
    let mut taken: Vec<KeyPath> = problems.iter().filter_map(|problem| path_of(problem).cloned()).collect();
    taken.iter().for_each(|path| root.remove(&path.0));
    if !problems.is_empty() {
        taken.extend(stand_in::fill(&mut root, &schema));
    }
    match from_tree::<SceneFile>(&root) {
        Ok(file) => {
            let (scene, mut more) = resolve(&file, folder);
            // What was left out must not be missed.
            more.retain(|problem| !taken.iter().any(|taken| follows_from(problem, taken)));
            problems.extend(more);
            (Some(scene), problems)
        }
        Err(_) if !problems.is_empty() => (None, problems),
        Err(problem) => (None, vec![problem]),
    }
}

/// Whether a problem is there only because a value was taken out or stood in for.
fn follows_from(problem: &Problem, taken: &KeyPath) -> bool {
    let Some(path) = path_of(problem) else {
        return false;
    };
    // Which keys belong to a collider depends on its shape.
    let shape_is_unknown = taken.0.last() == Some(&Key::Name("shape".to_owned()));
    let is_beside = path.0.starts_with(&taken.0[..taken.0.len().saturating_sub(1)]);
    stand_in::is_about(path, taken) || shape_is_unknown && is_beside && matches!(problem.place, Place::Key(_))
}

fn path_of(problem: &Problem) -> Option<&KeyPath> {
    match &problem.place {
        Place::Scene(path) | Place::Key(path) => Some(path),
        _ => None,
    }
}

/// The `--frames` argument.
struct Selection {
    frames: Vec<i64>,
    place: Place,
}

impl Selection {
    fn parse(typed: &str, document: &mut Document, problems: &mut Vec<Problem>) -> Option<Selection> {
        let source = document.add_source("--frames", typed);
        let place = Place::Text(Span { source, range: 0..typed.len() });
        match parse_frames(typed) {
            Ok(list) => Some(Selection { frames: list.frames, place }),
            Err(message) => {
                problems.push(Problem::error(place, message).help(FRAMES_HELP));
                None
            }
        }
    }

    fn apply(self, scene: &mut Scene, problems: &mut Vec<Problem>) {
        let range = scene.first_frame..=scene.last_frame;
        match self.frames.iter().find(|frame| !range.contains(frame)) {
            None => scene.written_frames = self.frames,
            Some(frame) => {
                let message = format!("frame {frame} is not in this scene");
                let help = format!("it has the frames {} to {}", scene.first_frame, scene.last_frame);
                problems.push(Problem::error(self.place, message).help(help));
            }
        }
    }
}
