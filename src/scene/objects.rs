//! Resolves cloths, pins and colliders: the objects of a scene.

use std::path::PathBuf;

use super::file::{
    AnimationEntry, AnimationText, ClothEntry, ColliderEntry, FollowText, MapEntry, MeshText, MovingTransform,
    PinEntry, RenderMeshEntry, RenderMeshText, RestText, SceneFile, ShapeName, StaticTransform,
};
use super::problem::{KeyPath, Place, Problem};
use super::resolve::Resolver;
use super::{
    Animation, Cloth, Collider, Fabric, Follow, MapSource, Maps, MeshSource, Pin, PinSelection, Placement, RenderMesh,
    RenderWrite, RestShape, Shape, Unit, UpAxis,
};
use super::{fabric, input_file, suggest};
use crate::math::Vec3;
use crate::math::curve::Curve;
use crate::math::motion::Motion;

/// Longest name; file systems allow 255 bytes, and patterns and extensions need room too.
const MAX_NAME_LENGTH: usize = 100;

/// What to do about sticking that is weaker than sliding.
pub(super) const STATIC_HELP: &str = "what slides is held less than what sticks: raise it, or lower `friction`";

/// What an object says about how its mesh file is read and where it stands.
pub(super) struct OwnMesh<'a> {
    pub unit: Option<Unit>,
    pub scale: f64,
    pub up: Option<UpAxis>,
    pub transform: &'a StaticTransform,
}

impl OwnMesh<'_> {
    /// From file to world.
    pub fn placement(&self) -> Placement {
        Placement {
            up: self.up.unwrap_or_default(),
            scale: self.unit.unwrap_or_default().metres() * self.scale,
            rotate: self.transform.rotate.into(),
            translate: self.transform.translate.into(),
        }
    }
}

impl Resolver<'_> {
    /// Names become file names on every system.
    pub(super) fn name(&mut self, name: &str, path: &KeyPath) {
        if let Some(fault) = name_fault(name) {
            self.error_with_help(path, fault, "names become file names: use letters, digits, `_`, `-` and `.`");
        }
    }

    pub(super) fn unique_names(&mut self, file: &SceneFile) {
        let named = |owner: KeyPath, name: &str| (owner.key("name"), owner, name.to_owned());
        let cloths = file.cloth.iter().enumerate().map(|(index, cloth)| named(KeyPath::cloth(index), &cloth.name));
        let colliders =
            file.collider.iter().enumerate().map(|(index, entry)| named(KeyPath::collider(index), &entry.name));
        let soft = file.soft_body.iter().enumerate().map(|(index, body)| named(KeyPath::soft_body(index), &body.name));
        let of_cloths = file
            .cloth
            .iter()
            .enumerate()
            .map(|(index, cloth)| (KeyPath::cloth(index), &cloth.name, &cloth.render_mesh));
        let of_soft = file
            .soft_body
            .iter()
            .enumerate()
            .map(|(index, body)| (KeyPath::soft_body(index), &body.name, &body.render_mesh));
        let renders = of_cloths.chain(of_soft).filter_map(|(owner, name, render)| match render {
            Some(RenderMeshText::Entry(entry)) if entry.write == RenderWrite::Beside => {
                let owner = owner.key("render_mesh");
                Some((owner.clone(), owner, render_name(name)))
            }
            _ => None,
        });
        let mut seen = std::collections::HashMap::new();
        for (place, owner, name) in cloths.chain(soft).chain(colliders).chain(renders) {
            let place = Place::Scene(place);
            match seen.insert(name.to_lowercase(), (owner, name.clone())) {
                Some((other, first)) if first == name => {
                    let message = format!("`{name}` is the name of `{other}` already");
                    self.problems.push(Problem::error(place, message).help("give every object its own name"));
                }
                Some((_, first)) => {
                    let message = format!("`{name}` and `{first}` differ only in upper and lower case");
                    self.problems.push(Problem::warning(place, message).help("some systems mix up their files"));
                }
                None => {}
            }
        }
    }

    pub(super) fn cloths(&mut self, entries: &[ClothEntry], colliders: &[ColliderEntry]) -> Vec<Cloth> {
        let cloths = entries.iter().enumerate();
        cloths.map(|(index, entry)| self.cloth(entry, colliders, &KeyPath::cloth(index))).collect()
    }

    fn cloth(&mut self, entry: &ClothEntry, colliders: &[ColliderEntry], path: &KeyPath) -> Cloth {
        self.name(&entry.name, &path.key("name"));
        let own = OwnMesh { unit: entry.unit, scale: entry.scale, up: entry.up, transform: &entry.transform };
        Cloth {
            name: entry.name.clone(),
            mesh: self.mesh(&entry.mesh, &entry.object, entry.unit, entry.up, path),
            placement: own.placement(),
            fabric: self.fabric(entry, path),
            self_collision: entry.self_collision.unwrap_or(true),
            layer: entry.layer,
            kind: entry.model,
            solver: entry.solver,
            rest: match &entry.rest {
                RestText::Word(_) => RestShape::Mesh,
                RestText::Uv(typed) => RestShape::Uv { metres: typed.uv },
            },
            rest_scale: entry.rest_scale,
            maps: Maps {
                density: self.map(entry.density_map.as_ref(), false, &path.key("density_map")),
                bend: self.map(entry.bend_map.as_ref(), true, &path.key("bend_map")),
                max_stretch: self.map(entry.stretch_map.as_ref(), false, &path.key("stretch_map")),
            },
            pins: self.pins(&entry.pins, colliders, path),
            render_mesh: entry.render_mesh.as_ref().map(|typed| self.render_mesh(typed, &own, path)),
        }
    }

    pub(super) fn pins(&mut self, entries: &[PinEntry], colliders: &[ColliderEntry], path: &KeyPath) -> Vec<Pin> {
        let path = path.key("pins");
        entries.iter().enumerate().map(|(index, pin)| self.pin(pin, colliders, &path.index(index))).collect()
    }

    /// What is not said about a render mesh is as with the object's own mesh, whose file it likely shares.
    pub(super) fn render_mesh(&mut self, typed: &RenderMeshText, own: &OwnMesh, path: &KeyPath) -> RenderMesh {
        let plain = |mesh| RenderMeshEntry {
            mesh,
            object: None,
            unit: None,
            scale: None,
            up: None,
            write: RenderWrite::default(),
        };
        let path = path.key("render_mesh");
        let (entry, mesh) = match typed {
            RenderMeshText::Path(typed) => (plain(MeshText::Path(typed.clone())), self.mesh_file(typed, None, &path)),
            RenderMeshText::Entry(entry) => {
                (entry.clone(), self.mesh(&entry.mesh, &entry.object, entry.unit, entry.up, &path))
            }
        };
        // A made mesh is in metres and Y up whatever the object's file is.
        let is_file = matches!(mesh, MeshSource::File { .. });
        let placed = OwnMesh {
            unit: entry.unit.or(own.unit.filter(|_| is_file)),
            scale: entry.scale.unwrap_or(own.scale),
            up: entry.up.or(own.up.filter(|_| is_file)),
            transform: own.transform,
        };
        RenderMesh { mesh, placement: placed.placement(), write: entry.write }
    }

    fn fabric(&mut self, entry: &ClothEntry, path: &KeyPath) -> Fabric {
        let base = fabric::find(&entry.fabric).unwrap_or_else(|| {
            let help = suggest::help(&entry.fabric, &fabric::names());
            self.error_with_help(&path.key("fabric"), format!("unknown fabric `{}`", entry.fabric), help);
            Fabric {
                density: 0.1,
                bend: 0.0,
                bend_is_typed: false,
                damping: 0.0,
                friction: 0.0,
                static_friction: None,
                restitution: 0.0,
                thickness: 0.0,
                max_stretch: 0.01,
                warp: None,
                weft: None,
                shear: 1.0,
            }
        });
        let warp = entry.warp.or(base.warp);
        let weft = entry.weft.or(base.weft);
        if warp.is_none() && weft.is_some() {
            let message = format!("there is a `weft`, but no `warp`: `{}` has none of its own", entry.fabric);
            let help = "give both, or `warp` alone for a fabric that is the same both ways";
            self.error_with_help(&path.key("weft"), message, help);
        }
        let friction = entry.friction.unwrap_or(base.friction);
        if let Some(sticking) = entry.static_friction.filter(|sticking| *sticking < friction) {
            let message = format!("the static friction {sticking} is below the friction {friction}");
            self.error_with_help(&path.key("static_friction"), message, STATIC_HELP);
        }
        Fabric {
            density: entry.density.unwrap_or(base.density),
            bend: entry.bend.unwrap_or(base.bend),
            bend_is_typed: entry.bend.is_some(),
            damping: entry.damping.unwrap_or(base.damping),
            friction,
            // A friction of its own is the cloth's for both.
            static_friction: entry.static_friction.or(base.static_friction.filter(|_| entry.friction.is_none())),
            restitution: entry.restitution,
            thickness: entry.thickness.unwrap_or(base.thickness),
            max_stretch: entry.max_stretch.unwrap_or(base.max_stretch),
            warp,
            weft: weft.or(warp),
            shear: entry.shear.unwrap_or(base.shear),
        }
    }

    /// Where the factors of a map come from; what depends on the mesh or the image is checked when those are read.
    pub(super) fn map(&mut self, entry: Option<&MapEntry>, may_be_zero: bool, path: &KeyPath) -> Option<MapSource> {
        let MapEntry { attribute, image, channel, groups, range } = entry?;
        let message = "a map has exactly one of `attribute`, `image`, `groups`";
        let factors = range.unwrap_or([0.0, 1.0]);
        let source = match (attribute, image, groups) {
            (Some(name), None, None) => MapSource::Attribute { name: name.clone(), range: factors },
            (None, Some(typed), None) => MapSource::Image {
                typed: typed.clone(),
                path: self.input_file(typed, input_file::IMAGE, &path.key("image")),
                channel: channel.unwrap_or_default(),
                range: factors,
            },
            (None, None, Some(groups)) => {
                for (name, factor) in groups {
                    if *factor < 0.0 || *factor == 0.0 && !may_be_zero {
                        let bound = if may_be_zero { "at least 0" } else { "more than 0" };
                        let message = format!("the factor {factor} is too small, it must be {bound}");
                        self.error(&path.key("groups").key(name), message);
                    }
                }
                if groups.is_empty() {
                    let help = "name a group of the mesh and its factor, such as { collar = 3.0 }";
                    self.error_with_help(&path.key("groups"), "this map names no group", help);
                }
                MapSource::Groups(groups.clone())
            }
            (None, None, None) => {
                self.error(path, message);
                return None;
            }
            _ => {
                self.error_with_help(path, message, "keep one of them");
                return None;
            }
        };
        let misplaced = [
            ("channel", channel.is_some() && image.is_none(), "of images"),
            ("range", range.is_some() && groups.is_some(), "of attributes and images"),
        ];
        for (key, _, of) in misplaced.into_iter().filter(|(_, misplaced, _)| *misplaced) {
            let message = format!("`{key}` is a key {of} and has no meaning here");
            self.problems.push(Problem::error(Place::Key(path.key(key)), message).help("remove it"));
        }
        Some(source)
    }

    pub(super) fn mesh(
        &mut self,
        mesh: &MeshText,
        object: &Option<String>,
        unit: Option<Unit>,
        up: Option<UpAxis>,
        path: &KeyPath,
    ) -> MeshSource {
        let made = match mesh {
            MeshText::Path(typed) => return self.mesh_file(typed, object.clone(), &path.key("mesh")),
            MeshText::Made(made) => made,
        };
        let given = [("object", object.is_some()), ("unit", unit.is_some()), ("up", up.is_some())];
        for (key, _) in given.into_iter().filter(|(_, given)| *given) {
            let message = format!("`{key}` is for mesh files, but this mesh is made here, in metres and Y up");
            self.problems.push(Problem::error(Place::Key(path.key(key)), message).help("remove it"));
        }
        self.made_mesh(made, &path.key("mesh"))
    }

    fn mesh_file(&mut self, typed: &str, object: Option<String>, path: &KeyPath) -> MeshSource {
        MeshSource::File { typed: typed.to_owned(), path: self.input_file(typed, input_file::MESH, path), object }
    }

    fn input_file(&mut self, typed: &str, kind: input_file::Kind, path: &KeyPath) -> PathBuf {
        input_file::find(typed, self.folder, kind).unwrap_or_else(|fault| {
            let problem = Problem::error(Place::Scene(path.clone()), fault.message);
            self.problems.push(Problem { help: fault.help, ..problem });
            self.folder.join(typed)
        })
    }

    fn pin(&mut self, entry: &PinEntry, colliders: &[ColliderEntry], path: &KeyPath) -> Pin {
        let selections = [
            entry.vertices.clone().map(PinSelection::Vertices),
            entry.group.clone().map(PinSelection::Group),
            entry.in_box.as_ref().map(|region| PinSelection::Box { min: region.min.into(), max: region.max.into() }),
            entry
                .in_sphere
                .as_ref()
                .map(|region| PinSelection::Sphere { center: region.center.into(), radius: region.radius }),
            entry.boundary.map(PinSelection::Boundary),
            entry.attribute.clone().map(PinSelection::Attribute),
        ];
        let mut selections = selections.into_iter().flatten();
        let (select, more) = (selections.next(), selections.next());
        if select.is_none() || more.is_some() {
            let message = "a pin has exactly one of `vertices`, `group`, `box`, `sphere`, `boundary`, `attribute`";
            self.error_with_help(path, message, "write several pins to pin several regions");
        }
        if let Some(PinSelection::Box { min, max }) = &select
            && (0..3).any(|axis| min[axis] > max[axis])
        {
            self.error(&path.key("box"), "`min` is above `max`, so the box holds nothing");
        }
        let follow = match &entry.follow {
            None => Follow::Motion(Motion::still()),
            Some(FollowText::Motion(motion)) => Follow::Motion(self.motion(motion, Vec3::zeros(), &path.key("follow"))),
            Some(FollowText::Collider(name)) => {
                let number = colliders.iter().position(|collider| &collider.name == name);
                Follow::Collider(number.unwrap_or_else(|| {
                    let names: Vec<&str> = colliders.iter().map(|collider| collider.name.as_str()).collect();
                    let help = match names.is_empty() {
                        true => "pins follow a collider by its name; add a [[collider]]".to_owned(),
                        false => suggest::help(name, &names),
                    };
                    self.error_with_help(&path.key("follow"), format!("there is no collider `{name}`"), help);
                    0
                }))
            }
        };
        let weight = entry.weight.unwrap_or(1.0);
        if weight == 0.0 {
            self.error_with_help(&path.key("weight"), "a pin of weight 0 holds nothing", "remove the pin");
        }
        Pin { select: select.unwrap_or(PinSelection::Boundary(0)), follow, weight }
    }

    fn animation(typed: Option<&AnimationText>) -> Animation {
        let entry = match typed {
            None => AnimationEntry::default(),
            Some(AnimationText::Clip(clip)) => AnimationEntry { clip: Some(clip.clone()), ..AnimationEntry::default() },
            Some(AnimationText::Played(entry)) => entry.clone(),
        };
        Animation {
            is_typed: typed.is_some(),
            clip: entry.clip,
            looped: entry.looped.unwrap_or(false),
            offset: entry.offset.unwrap_or(0.0),
            speed: entry.speed.unwrap_or(1.0),
        }
    }

    fn motion(&mut self, entry: &MovingTransform, default_pivot: Vec3, path: &KeyPath) -> Motion {
        let still = || Curve::constant(Vec3::zeros());
        let translate =
            entry.translate.as_ref().map_or_else(still, |typed| self.vectors(typed, &path.key("translate")));
        let rotate = entry.rotate.as_ref().map_or_else(still, |typed| self.vectors(typed, &path.key("rotate")));
        Motion { translate, rotate, pivot: entry.pivot.map_or(default_pivot, Vec3::from) }
    }

    pub(super) fn colliders(&mut self, entries: &[ColliderEntry]) -> Vec<Collider> {
        entries.iter().enumerate().map(|(index, entry)| self.collider(entry, &KeyPath::collider(index))).collect()
    }

    fn collider(&mut self, entry: &ColliderEntry, path: &KeyPath) -> Collider {
        self.name(&entry.name, &path.key("name"));
        self.shape_keys(entry, path);
        let shape = self.shape(entry, path);
        let middle = match &shape {
            Shape::Plane { point, .. } => *point,
            Shape::Sphere { center, .. } | Shape::Box { center, .. } => *center,
            Shape::Capsule { from, to, .. } | Shape::Cylinder { from, to, .. } => (from + to) / 2.0,
            Shape::Mesh { .. } => Vec3::zeros(),
        };
        let friction = self.amounts(&entry.friction, &path.key("friction"));
        let static_path = path.key("static_friction");
        let static_friction = match &entry.static_friction {
            Some(typed) => self.amounts(typed, &static_path),
            None => friction.clone(),
        };
        // Between keys the larger one counts.
        let is_below = |frame: &f64| (0.0..friction.at(*frame)).contains(&static_friction.at(*frame));
        let below = friction.frames().chain(static_friction.frames()).find(is_below);
        if let Some(frame) = below {
            let (sticking, sliding) = (static_friction.at(frame), friction.at(frame));
            let is_keyed = !(friction.is_constant() && static_friction.is_constant());
            let when = if is_keyed { format!(" at frame {frame}") } else { String::new() };
            let message = format!("the static friction {sticking} is below the friction {sliding}{when}");
            self.error_with_help(&static_path, message, STATIC_HELP);
        }
        Collider {
            name: entry.name.clone(),
            shape,
            motion: self.motion(&entry.transform, middle, &path.key("transform")),
            friction,
            static_friction,
            restitution: entry.restitution,
            thickness: entry.thickness,
        }
    }

    /// Which keys a shape needs and which it may have.
    fn shape_keys(&mut self, entry: &ColliderEntry, path: &KeyPath) {
        let (name, needed, allowed): (_, &[&str], &[&str]) = match entry.shape {
            ShapeName::Plane => ("plane", &["point", "normal"], &[]),
            ShapeName::Sphere => ("sphere", &["center", "radius"], &[]),
            ShapeName::Box => ("box", &["center", "size"], &[]),
            ShapeName::Capsule => ("capsule", &["from", "to", "radius"], &[]),
            ShapeName::Cylinder => ("cylinder", &["from", "to", "radius"], &[]),
            ShapeName::Mesh => ("mesh", &["mesh"], &["object", "unit", "scale", "up", "animation", "sides"]),
        };
        let given = [
            ("point", entry.point.is_some()),
            ("normal", entry.normal.is_some()),
            ("center", entry.center.is_some()),
            ("radius", entry.radius.is_some()),
            ("size", entry.size.is_some()),
            ("from", entry.from.is_some()),
            ("to", entry.to.is_some()),
            ("mesh", entry.mesh.is_some()),
            ("object", entry.object.is_some()),
            ("unit", entry.unit.is_some()),
            ("scale", entry.scale.is_some()),
            ("up", entry.up.is_some()),
            ("animation", entry.animation.is_some()),
            ("sides", entry.sides.is_some()),
        ];
        for (key, given) in given {
            if !given && needed.contains(&key) {
                let help = format!("a {name} is described by {}", suggest::quoted(needed));
                self.error_with_help(path, format!("the key `{key}` is missing for a {name}"), help);
            }
            if given && !needed.contains(&key) && !allowed.contains(&key) {
                let help = format!("a {name} is described by {}", suggest::quoted(&[needed, allowed].concat()));
                let message = format!("`{key}` does not belong to a {name}");
                self.problems.push(Problem::error(Place::Key(path.key(key)), message).help(help));
            }
        }
    }

    /// The shape; missing values were reported before, so anything stands in for them.
    fn shape(&mut self, entry: &ColliderEntry, path: &KeyPath) -> Shape {
        let vector = |typed: Option<[f64; 3]>| typed.map_or_else(Vec3::zeros, Vec3::from);
        let center = vector(entry.center);
        let [from, to] = [vector(entry.from), vector(entry.to)];
        let radius = entry.radius.unwrap_or(1.0);
        match entry.shape {
            ShapeName::Plane => {
                let normal = entry.normal.map_or_else(Vec3::y, Vec3::from).try_normalize(0.0);
                if normal.is_none() {
                    self.error(&path.key("normal"), "a normal must not be zero");
                }
                Shape::Plane { point: vector(entry.point), normal: normal.unwrap_or_else(Vec3::y) }
            }
            ShapeName::Sphere => Shape::Sphere { center, radius },
            ShapeName::Box => {
                let size = entry.size.unwrap_or([1.0; 3]);
                if let Some(axis) = size.iter().position(|length| *length <= 0.0) {
                    self.error(&path.key("size").index(axis), "the size of a box must be more than 0");
                }
                Shape::Box { center, size: size.into() }
            }
            ShapeName::Capsule => Shape::Capsule { from, to, radius },
            ShapeName::Cylinder => {
                if entry.from.is_some() && entry.from == entry.to {
                    self.error(&path.key("to"), "a cylinder needs a length, but `from` and `to` are the same");
                }
                Shape::Cylinder { from, to, radius }
            }
            ShapeName::Mesh => {
                let mesh = match &entry.mesh {
                    Some(mesh) => self.mesh(mesh, &entry.object, entry.unit, entry.up, path),
                    None => MeshSource::Disc { radius: 1.0, inner: 1, rim: 3 },
                };
                let placement = Placement {
                    up: entry.up.unwrap_or_default(),
                    scale: entry.unit.unwrap_or_default().metres() * entry.scale.unwrap_or(1.0),
                    rotate: Vec3::zeros(),
                    translate: Vec3::zeros(),
                };
                let animation = Self::animation(entry.animation.as_ref());
                Shape::Mesh { mesh, placement, animation, sides: entry.sides.unwrap_or_default() }
            }
        }
    }
}

/// What a render mesh is called that is written beside its cloth.
pub fn render_name(cloth: &str) -> String {
    format!("{cloth}_render")
}

/// Why a name cannot be a file name on some system.
fn name_fault(name: &str) -> Option<String> {
    if name.trim().is_empty() {
        return Some("a name must not be empty".to_owned());
    }
    if name.len() > MAX_NAME_LENGTH {
        return Some(format!("a name must not be longer than {MAX_NAME_LENGTH} bytes"));
    }
    if let Some(character) = name.chars().find(|c| c.is_control() || r#"/\:*?"<>|"#.contains(*c)) {
        return Some(format!("`{}` cannot be part of a file name", character.escape_default()));
    }
    if name.starts_with(' ') || name.ends_with([' ', '.']) {
        return Some("a name must not start or end with a blank, or end with a dot".to_owned());
    }
    let stem = name.split('.').next().unwrap_or(name).to_ascii_uppercase();
    let numbered = |port: &str| stem.strip_prefix(port).is_some_and(|n| n.len() == 1 && "123456789".contains(n));
    if ["CON", "PRN", "AUX", "NUL"].contains(&stem.as_str()) || numbered("COM") || numbered("LPT") {
        return Some(format!("Windows keeps the name `{stem}` for itself"));
    }
    None
}
