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

/// The rules of all pairs. Two colliders never touch.
#[derive(Clone, Debug)]
pub struct ContactRules {
    /// One row for each cloth: cloths, then colliders.
    rows: Vec<Vec<Option<PairRule>>>,
}

impl ContactRules {
    /// From the objects of a scene and what it says about pairs.
    pub fn build(scene: &Scene) -> Self {
        let (cloths, colliders) = (&scene.cloths, &scene.colliders);
        let row = |a: usize| {
            let of_cloths = (0..cloths.len()).map(|b| {
                let [one, other] = [a, b].map(|cloth| &cloths[cloth].fabric);
                // Of a cloth with itself one thickness, and between two half of both, keep the same mean surfaces apart.
                let thickness = if a == b { one.thickness } else { 0.5 * (one.thickness + other.thickness) };
                let collide = a != b || cloths[a].self_collision;
                collide.then(|| PairRule::plain(thickness, one.restitution * other.restitution))
            });
            let fabric = &cloths[a].fabric;
            let of_colliders = colliders.iter().map(|collider| {
                let thickness = fabric.thickness + collider.thickness;
                Some(PairRule::plain(thickness, fabric.restitution * collider.restitution))
            });
            of_cloths.chain(of_colliders).collect()
        };
        let mut rules = ContactRules { rows: (0..cloths.len()).map(row).collect() };
        for pair in &scene.contacts {
            let [a, b] = pair.between;
            for (a, b) in [(a, b), (b, a)] {
                let Some(rule) = rules.slot(a, b) else { continue };
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

    /// How two bodies touch; `None` where they pass through each other.
    pub fn between(&self, a: Body, b: Body) -> Option<PairRule> {
        let ((Body::Cloth(cloth), other) | (other, Body::Cloth(cloth))) = (a, b) else {
            return None;
        };
        self.rows.get(cloth)?.get(self.column(other)).copied().flatten()
    }

    /// How a cloth touches each of the colliders.
    pub fn with_colliders(&self, cloth: usize) -> &[Option<PairRule>] {
        &self.rows[cloth][self.rows.len()..]
    }

    fn slot(&mut self, a: Body, b: Body) -> Option<&mut Option<PairRule>> {
        let column = self.column(b);
        match a {
            Body::Cloth(cloth) => self.rows.get_mut(cloth)?.get_mut(column),
            Body::Collider(_) => None,
        }
    }

    fn column(&self, body: Body) -> usize {
        match body {
            Body::Cloth(cloth) => cloth,
            Body::Collider(collider) => self.rows.len() + collider,
        }
    }
}
