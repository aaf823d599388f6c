//! How each two bodies touch: the only place that knows which ones collide, and what a pair has of its own.

use crate::algorithms::contact::friction::Friction;
use crate::scene::{Body, Scene};

/// How two bodies touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairRule {
    /// Distance that they keep [m].
    pub thickness: f64,
    /// Part of its speed that is left to what bounces.
    pub restitution: f64,
    friction: Option<f64>,
    static_friction: Option<f64>,
}

impl PairRule {
    /// Friction from both.
    fn plain(thickness: f64, restitution: f64) -> Self {
        PairRule { thickness, restitution, friction: None, static_friction: None }
    }

    /// Coulomb coefficients of the pair, from those that both have now.
    pub fn friction(&self, a: Friction, b: Friction) -> Friction {
        let mean = Friction::of_both(a, b);
        let sticking = self.static_friction.or(self.friction).unwrap_or(mean.sticking);
        Friction::new(self.friction.unwrap_or(mean.dynamic), sticking)
    }
}

/// The rules of all pairs, by number: cloths, then soft bodies, then colliders. Two colliders never touch.
#[derive(Clone, Debug)]
pub struct ContactRules {
    /// One row for each cloth and soft body, one column for each object.
    rows: Vec<Vec<Option<PairRule>>>,
    cloth_count: usize,
}

/// What an object brings into a contact.
#[derive(Clone, Copy)]
struct Side {
    thickness: f64,
    restitution: f64,
    self_collision: bool,
}

impl ContactRules {
    /// From the objects of a scene and what it says about pairs.
    pub fn build(scene: &Scene) -> Self {
        let cloths = scene.cloths.iter().map(|cloth| Side {
            thickness: cloth.fabric.thickness,
            restitution: cloth.fabric.restitution,
            self_collision: cloth.self_collision,
        });
        let soft = scene.soft_bodies.iter().map(|body| Side {
            thickness: body.flesh.thickness,
            restitution: body.flesh.restitution,
            self_collision: body.self_collision,
        });
        let sides: Vec<Side> = cloths.chain(soft).collect();
        let row = |a: usize| {
            let own = sides[a];
            let of_bodies = sides.iter().enumerate().map(|(b, other)| {
                // Of a body with itself one thickness, and between two half of both, keep the same mean surfaces apart.
                let thickness = if a == b { own.thickness } else { 0.5 * (own.thickness + other.thickness) };
                let collide = a != b || own.self_collision;
                collide.then(|| PairRule::plain(thickness, own.restitution * other.restitution))
            });
            let of_colliders = scene.colliders.iter().map(|collider| {
                Some(PairRule::plain(own.thickness + collider.thickness, own.restitution * collider.restitution))
            });
            of_bodies.chain(of_colliders).collect()
        };
        let rows = (0..sides.len()).map(row).collect();
        let mut rules = ContactRules { rows, cloth_count: scene.cloths.len() };
        for pair in &scene.contacts {
            let [a, b] = pair.between.map(|body| rules.number(body));
            for (a, b) in [(a, b), (b, a)] {
                let Some(rule) = rules.rows.get_mut(a).and_then(|row| row.get_mut(b)) else { continue };
                *rule = rule.filter(|_| pair.collide).map(|usual| PairRule {
                    thickness: pair.thickness.unwrap_or(usual.thickness),
                    restitution: pair.restitution.unwrap_or(usual.restitution),
                    friction: pair.friction,
                    static_friction: pair.static_friction,
                });
            }
        }
        rules
    }

    /// The number of an object of the scene.
    pub fn number(&self, body: Body) -> usize {
        match body {
            Body::Cloth(cloth) => cloth,
            Body::SoftBody(soft) => self.cloth_count + soft,
            Body::Collider(collider) => self.rows.len() + collider,
        }
    }

    /// How two objects touch; `None` where they pass through each other.
    pub fn between(&self, a: usize, b: usize) -> Option<PairRule> {
        self.rows.get(a.min(b))?.get(a.max(b)).copied().flatten()
    }

    /// The least distance above 0 that a cloth or soft body keeps from a collider, if there is any [m].
    pub fn thinnest(&self, body: usize) -> Option<f64> {
        let rules = self.with_colliders(body).iter().flatten();
        rules.map(|rule| rule.thickness).filter(|thickness| *thickness > 0.0).reduce(f64::min)
    }

    /// How a cloth or soft body touches each of the colliders.
    pub fn with_colliders(&self, body: usize) -> &[Option<PairRule>] {
        &self.rows[body][self.rows.len()..]
    }
}
