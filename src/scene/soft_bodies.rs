//! Resolves soft bodies.

use super::file::{ColliderEntry, ShapeMatchingEntry, SoftBodyEntry};
use super::objects::{OwnMesh, STATIC_HELP};
use super::problem::KeyPath;
use super::resolve::Resolver;
use super::{Flesh, Lattice, LatticeSize, Nearness, Plasticity, ShapeMatching, SoftBody};

/// How fast what is beyond the yield stays where nothing is said [1/s].
const CREEP: f64 = 2.0;

impl Resolver<'_> {
    pub(super) fn soft_bodies(&mut self, entries: &[SoftBodyEntry], colliders: &[ColliderEntry]) -> Vec<SoftBody> {
        let bodies = entries.iter().enumerate();
        bodies.map(|(index, entry)| self.soft_body(entry, colliders, &KeyPath::soft_body(index))).collect()
    }

    fn soft_body(&mut self, entry: &SoftBodyEntry, colliders: &[ColliderEntry], path: &KeyPath) -> SoftBody {
        self.name(&entry.name, &path.key("name"));
        let own = OwnMesh { unit: entry.unit, scale: entry.scale, up: entry.up, transform: &entry.transform };
        SoftBody {
            name: entry.name.clone(),
            kind: entry.model,
            mesh: self.mesh(&entry.mesh, &entry.object, entry.unit, entry.up, path),
            placement: own.placement(),
            flesh: self.flesh(entry, path),
            stiffness_map: self.map(entry.stiffness_map.as_ref(), true, &path.key("stiffness_map")),
            lattice: self.lattice(entry, &path.key("tetrahedra")),
            matching: matching(&entry.shape_matching),
            start_scale: entry.start_scale,
            self_collision: entry.self_collision.unwrap_or(true),
            pins: self.pins(&entry.pins, colliders, path),
            render_mesh: entry.render_mesh.as_ref().map(|typed| self.render_mesh(typed, &own, path)),
        }
    }

    fn flesh(&mut self, entry: &SoftBodyEntry, path: &KeyPath) -> Flesh {
        let sticking = entry.static_friction.unwrap_or(entry.friction);
        if sticking < entry.friction {
            let message = format!("the static friction {sticking} is below the friction {}", entry.friction);
            self.error_with_help(&path.key("static_friction"), message, STATIC_HELP);
        }
        let pressure = self.amounts(&entry.pressure, &path.key("pressure"));
        if entry.stiffness <= 0.0 && pressure.values().any(|pressure| pressure > 0.0) {
            let message = "without stiffness nothing holds the pressure inside";
            self.error_with_help(&path.key("pressure"), message, "give the body a `stiffness`");
        }
        Flesh {
            density: entry.density,
            stiffness: entry.stiffness,
            damping: entry.damping,
            friction: entry.friction,
            static_friction: sticking,
            restitution: entry.restitution,
            thickness: entry.thickness,
            volume_tolerance: entry.volume_tolerance,
            volume: entry.volume,
            pressure,
            plasticity: entry
                .plasticity
                .as_ref()
                .map(|typed| Plasticity { yields_at: typed.yields_at, creep: typed.creep.unwrap_or(CREEP) }),
        }
    }

    fn lattice(&mut self, entry: &SoftBodyEntry, path: &KeyPath) -> Lattice {
        let (typed, usual) = (&entry.tetrahedra, Lattice::default());
        let size = match (typed.cell, typed.count) {
            (None, None) => LatticeSize::Auto,
            (Some(cell), None) => LatticeSize::Cell(cell),
            (None, Some(count)) => LatticeSize::Count(count),
            (Some(_), Some(_)) => {
                self.error_with_help(path, "`cell` and `count` both say how fine it is", "keep one of them");
                LatticeSize::Auto
            }
        };
        let mut nearness = |key, usual, probability: Option<f64>, voxels: Option<f64>| match (probability, voxels) {
            (None, None) => usual,
            (Some(probability), None) => Nearness::Probability(probability),
            (None, Some(voxels)) => Nearness::Voxels(voxels),
            (Some(_), Some(_)) => {
                self.error_with_help(path, format!("`{key}` and `{key}_voxels` say the same"), "keep one of them");
                usual
            }
        };
        let [k1, k2] =
            [nearness("k1", usual.k1, typed.k1, typed.k1_voxels), nearness("k2", usual.k2, typed.k2, typed.k2_voxels)];
        Lattice { size, density: typed.density.unwrap_or(usual.density), k1, k2 }
    }
}

/// How shapes are matched, where nothing is said as most bodies look right.
fn matching(typed: &ShapeMatchingEntry) -> ShapeMatching {
    ShapeMatching {
        omega: typed.omega.unwrap_or(3),
        stiffness: typed.stiffness.unwrap_or(0.9),
        // Of what swings a few times a second, a tenth is lost in a swing: less, and a soft ball bounces on its flat side for seconds.
        damping: typed.damping.unwrap_or(300.0),
        keep_volume: typed.keep_volume.unwrap_or(true),
        alpha: typed.alpha.unwrap_or(0.2),
        beta: typed.beta.unwrap_or(0.1),
        s_min: typed.s_min.unwrap_or(0.01),
        s_max: typed.s_max.unwrap_or(0.1),
    }
}
