//! Resolves what pairs of objects have of their own.

use std::collections::HashMap;

use super::file::{ContactEntry, SceneFile};
use super::objects::STATIC_HELP;
use super::problem::{KeyPath, Place, Problem};
use super::resolve::Resolver;
use super::suggest;
use super::{Body, ContactPair, Scene};

/// What can touch, by name.
struct Objects<'a> {
    names: Vec<&'a str>,
    bodies: HashMap<&'a str, Body>,
}

impl Resolver<'_> {
    /// Fills in the scene's contacts and what they say about objects with themselves; all objects are known.
    pub(super) fn contacts(&mut self, file: &SceneFile, scene: &mut Scene) {
        let cloths = file.cloth.iter().enumerate().map(|(index, cloth)| (cloth.name.as_str(), Body::Cloth(index)));
        let colliders =
            file.collider.iter().enumerate().map(|(index, collider)| (collider.name.as_str(), Body::Collider(index)));
        let soft = file.soft_body.iter().enumerate().map(|(index, body)| (body.name.as_str(), Body::SoftBody(index)));
        let all = cloths.chain(soft).chain(colliders);
        let names: Vec<&str> = all.clone().map(|(name, _)| name).collect();
        // Of two objects with one name, which is an error already, any will do.
        let objects = Objects { names, bodies: all.collect() };
        let mut known = HashMap::new();
        for (number, entry) in file.contact.iter().enumerate() {
            let path = KeyPath::contact(number);
            self.contact_keys(entry, &path);
            let Some(between) = self.pair(entry, &objects, &path) else {
                continue;
            };
            if let Some(earlier) = known.insert(between, number) {
                let message =
                    format!("{} the pair of `{}` already", both(entry, "are", "is"), KeyPath::contact(earlier));
                self.error_with_help(
                    &path.key("between"),
                    message,
                    "one entry says all about a pair: make one of both",
                );
                continue;
            }
            self.static_friction(entry, between, scene, &path);
            let collide = entry.collide.unwrap_or(true);
            if between[0] == between[1] {
                let typed = match between[0] {
                    Body::Cloth(number) => file.cloth[number].self_collision,
                    Body::SoftBody(number) => file.soft_body[number].self_collision,
                    Body::Collider(_) => None,
                };
                if typed.is_some_and(|typed| typed != collide) {
                    let message =
                        format!("`self_collision = {}` of `{}` says the opposite", !collide, entry.between[0]);
                    let help = "both mean the same: keep one of them";
                    self.error_with_help(
                        &path.key(if entry.collide.is_some() { "collide" } else { "between" }),
                        message,
                        help,
                    );
                }
                match between[0] {
                    Body::Cloth(number) => scene.cloths[number].self_collision = collide,
                    Body::SoftBody(number) => scene.soft_bodies[number].self_collision = collide,
                    Body::Collider(_) => {}
                }
            }
            scene.contacts.push(ContactPair {
                between,
                collide,
                friction: entry.friction,
                static_friction: entry.static_friction,
                thickness: entry.thickness,
                restitution: entry.restitution,
            });
        }
    }

    /// Which keys make sense together.
    fn contact_keys(&mut self, entry: &ContactEntry, path: &KeyPath) {
        let values = [
            ("friction", entry.friction),
            ("static_friction", entry.static_friction),
            ("thickness", entry.thickness),
            ("restitution", entry.restitution),
        ];
        let given = values.iter().filter(|(_, value)| value.is_some());
        match entry.collide {
            Some(true) => {}
            Some(false) => {
                for (key, _) in given {
                    let message = format!("`{key}` has no meaning for objects that pass through each other");
                    let problem = Problem::error(Place::Key(path.key(key)), message);
                    self.problems.push(problem.help("remove it, or `collide = false`"));
                }
            }
            None if given.count() == 0 => {
                let help =
                    format!("say `collide = false`, or give one of {}", suggest::quoted(&values.map(|(key, _)| key)));
                self.error_with_help(path, "this entry says nothing about its pair", help);
            }
            None => {}
        }
    }

    /// The objects that an entry names, in ascending order.
    fn pair(&mut self, entry: &ContactEntry, objects: &Objects, path: &KeyPath) -> Option<[Body; 2]> {
        let path = path.key("between");
        let mut find = |place: usize| {
            let name = entry.between[place].as_str();
            let found = objects.bodies.get(name).copied();
            if found.is_none() {
                let message = format!("there is no object `{name}`");
                self.error_with_help(&path.index(place), message, suggest::help(name, &objects.names));
            }
            found
        };
        let found = [find(0), find(1)];
        let mut between = [found[0]?, found[1]?];
        between.sort_unstable();
        if matches!(between[0], Body::Collider(_)) {
            let message = match between[0] == between[1] {
                true => format!("`{}` is a collider, and colliders do not collide with themselves", entry.between[0]),
                false => format!("{} colliders, and those do not collide with each other", both(entry, "are", "is")),
            };
            self.error_with_help(&path, message, "name at least one cloth or soft body");
            return None;
        }
        Some(between)
    }

    /// What sticks is held at least as much as what slides.
    fn static_friction(&mut self, entry: &ContactEntry, between: [Body; 2], scene: &Scene, path: &KeyPath) {
        let largest = |body: Body| match body {
            Body::Cloth(number) => scene.cloths[number].fabric.friction,
            Body::SoftBody(number) => scene.soft_bodies[number].flesh.friction,
            Body::Collider(number) => scene.colliders[number].friction.values().fold(0.0, f64::max),
        };
        let mean = (largest(between[0]) * largest(between[1])).sqrt();
        let (friction, of) = entry.friction.map_or((mean, " of both"), |friction| (friction, ""));
        if let Some(sticking) = entry.static_friction.filter(|sticking| *sticking < friction) {
            let message = format!("the static friction {sticking} is below the friction {friction:.3}{of}");
            let help = if entry.friction.is_some() {
                STATIC_HELP
            } else {
                "raise it, or give a lower `friction` here as well"
            };
            self.error_with_help(&path.key("static_friction"), message, help);
        }
    }
}

/// `a` and `b` are, or `a` with itself is.
fn both(entry: &ContactEntry, are: &str, is: &str) -> String {
    let [a, b] = &entry.between;
    if a == b { format!("`{a}` with itself {is}") } else { format!("`{a}` and `{b}` {are}") }
}
