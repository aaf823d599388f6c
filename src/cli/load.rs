//! From the arguments to a scene and its model, with everything that is wrong told at once.

use std::path::Path;

use super::SceneArgs;
use super::terminal::{counted, is_styled, log};
use crate::bake::outputs::{Plan, rest_problems, uneven_frames};
use crate::bake::{Exit, Failure};
use crate::math::Vec3;
use crate::model::{self, Model, State};
use crate::scene::document::Document;
use crate::scene::problem::{KeyPath, Place, Problem, Severity};
use crate::scene::{self, LatticeSize, MeshSource, Resolved, Scene, Shape, diagnostics};

/// What a newcomer bakes.
const DEMO: &str = include_str!("../../presets/tablecloth.toml");
/// Its name in messages.
const DEMO_NAME: &str = "the built-in demo scene";

/// A scene that can be baked.
pub struct Loaded {
    pub scene: Scene,
    pub model: Model,
    pub state: State,
}

/// Reads a scene (the demo without a path); warnings are logged.
pub fn load_scene(path: Option<&Path>, arguments: &SceneArgs) -> Result<Resolved, Failure> {
    read_scene(path, arguments).map_err(|failure| refuse(path, &failure.problems, failure.document.as_ref()))
}

fn read_scene(path: Option<&Path>, arguments: &SceneArgs) -> Result<Resolved, scene::Failure> {
    let frames = arguments.frames.as_deref();
    match path {
        Some(path) => scene::read(path, &arguments.set, frames),
        None => scene::read_text(DEMO_NAME, DEMO, Path::new(""), &arguments.set, frames),
    }
}

/// Reads a scene and its meshes and builds its model.
pub fn load(path: Option<&Path>, arguments: &SceneArgs) -> Result<Loaded, Failure> {
    let Resolved { scene, document, mut problems } = read_scene(path, arguments).map_err(|mut failure| {
        let more = failure.scene.take().map(|scene| object_problems(*scene, &failure.problems));
        failure.problems.extend(more.unwrap_or_default());
        refuse(path, &failure.problems, failure.document.as_ref())
    })?;
    let plan = plan(&scene)?;
    problems.extend(plan.problem());
    let built = match model::build(&scene) {
        Ok((model, state, warnings)) => {
            problems.extend(warnings);
            problems.extend(rest_problems(&plan, &model));
            Some((model, state))
        }
        Err(more) => {
            problems.extend(more);
            None
        }
    };
    match built {
        Some((model, state)) if problems.iter().all(|problem| problem.severity == Severity::Warning) => {
            tell(&problems, Some(&document));
            uneven_frames(&scene.output.formats, &scene.written_frames).iter().for_each(|warning| log(warning));
            Ok(Loaded { scene, model, state })
        }
        _ => Err(refuse(path, &problems, Some(&document))),
    }
}

/// Which files a scene will write.
pub fn plan(scene: &Scene) -> Result<Plan, Failure> {
    let json = serde_json::to_value(scene).map_err(|error| {
        Failure::new(Exit::Unexpected, format!("the scene cannot be written down: {error}"), "please report it")
    })?;
    Plan::from_json(&json)
}

/// What is wrong with the meshes and pins of a refused scene, as far as its objects are not refused themselves.
fn object_problems(mut scene: Scene, found: &[Problem]) -> Vec<Problem> {
    let is_in = |problem: &Problem, object: &KeyPath| match &problem.place {
        Place::Scene(path) | Place::Key(path) => object.holds(path),
        _ => false,
    };
    let harmless = MeshSource::Sheet { vertices: [2, 2], size: [1.0, 1.0], quads: false };
    let mut refused = Vec::new();
    for (number, cloth) in scene.cloths.iter_mut().enumerate() {
        let path = KeyPath::cloth(number);
        if found.iter().any(|problem| is_in(problem, &path)) {
            (cloth.mesh, cloth.pins, cloth.render_mesh) = (harmless.clone(), Vec::new(), None);
            refused.push(path);
        }
    }
    let box_mesh = MeshSource::Cuboid { size: [1.0; 3], vertices: [2; 3] };
    for (number, body) in scene.soft_bodies.iter_mut().enumerate() {
        let path = KeyPath::soft_body(number);
        if found.iter().any(|problem| is_in(problem, &path)) {
            (body.mesh, body.pins, body.render_mesh) = (box_mesh.clone(), Vec::new(), None);
            (body.stiffness_map, body.lattice.size) = (None, LatticeSize::Count(5));
            refused.push(path);
        }
    }
    for (number, collider) in scene.colliders.iter_mut().enumerate() {
        let path = KeyPath::collider(number);
        if found.iter().any(|problem| is_in(problem, &path)) {
            collider.shape = Shape::Sphere { center: Vec3::zeros(), radius: 1.0 };
            refused.push(path);
        }
    }
    let mut problems = model::build(&scene).map_or_else(|problems| problems, |(_, _, warnings)| warnings);
    problems.retain(|problem| !refused.iter().any(|object| is_in(problem, object)));
    problems
}

/// Shows problems, if there are any.
pub fn tell(problems: &[Problem], document: Option<&Document>) {
    if !problems.is_empty() {
        log(&diagnostics::render(problems, document, is_styled()));
    }
}

/// Shows all problems and sums them up in one failure.
pub fn refuse(path: Option<&Path>, problems: &[Problem], document: Option<&Document>) -> Failure {
    tell(problems, document);
    let errors: Vec<&Problem> = problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
    let name = path.map_or(DEMO_NAME.to_owned(), |path| path.display().to_string());
    let first = errors.first().map(|problem| describe(problem, document)).unwrap_or_default();
    let cause = match errors.len() {
        0 | 1 => format!("{name} cannot be baked: {first}"),
        count => format!("{name} cannot be baked: {}, the first is: {first}", counted(count, "problem", "problems")),
    };
    Failure::new(Exit::InvalidInput, cause, "mend what is shown above and run again")
}

/// A problem in one line.
fn describe(problem: &Problem, document: Option<&Document>) -> String {
    let message = &problem.message;
    match &problem.place {
        Place::Line(path, line) => format!("{} line {line}: {message}", path.display()),
        Place::File(path) => format!("{}: {message}", path.display()),
        place => match document.and_then(|document| document.position(place)) {
            Some(position) => format!("{} line {}: {message}", position.source, position.line),
            None => message.clone(),
        },
    }
}
