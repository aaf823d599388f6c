//! Colliders as they are looked at: a mesh each, and where the vertices of those that move are in every frame.
//!
//! Nothing simulates from these files. A job has them so that its pictures are whole wherever it is copied.

use std::path::Path;

use super::exit::Failure;
use super::outputs::Plan;
use crate::cache::atomic::WrittenFile;
use crate::cache::convert::Coordinates;
use crate::cache::names;
use crate::cache::obj::write_obj;
use crate::cache::store::{ObjectFrame, StoreHeader, StoreObject, StoreWriter};
use crate::math::Vec3;
use crate::mesh::bvh::Aabb;
use crate::mesh::surface::PolyMesh;
use crate::model::{ColliderModel, Model, Moment};
use crate::scene::Scene;

/// Writes the frames of colliders.
pub struct ColliderTracks<'m> {
    moving: Vec<(&'m ColliderModel, PolyMesh)>,
    store: Option<StoreWriter>,
}

impl<'m> ColliderTracks<'m> {
    /// Writes their meshes as they are in the first frame, and starts the store if any of them moves. What was written is added to `written`.
    pub fn create(
        job: &Path,
        plan: &Plan,
        scene: &Scene,
        model: &'m Model,
        written: &mut Vec<WrittenFile>,
    ) -> Result<Self, Failure> {
        let mut moving = Vec::new();
        let bodies = model.skins().flat_map(|skin| &skin.surface.positions);
        let around = bodies.fold(Aabb::empty(), |around, p| around.join(Aabb::around(*p)));
        let coordinates = Coordinates::in_world(&plan.output);
        let colliders = if plan.output.colliders { model.colliders.as_slice() } else { &[] };
        for collider in colliders {
            let outline = collider.outline(&around);
            let first = collider.outline_at(&outline, Moment::at(scene.first_frame as f64));
            let positions: Vec<[f32; 3]> = first.iter().map(|p| coordinates.apply(single(p))).collect();
            written.push(write_obj(&job.join(names::collider_file(&collider.name)), &outline, &positions, &[])?);
            if !collider.is_still() {
                moving.push((collider, outline));
            }
        }
        let object = |(collider, outline): &(&ColliderModel, PolyMesh)| StoreObject {
            name: collider.name.clone(),
            vertex_count: outline.positions.len(),
        };
        let header =
            StoreHeader { fps: scene.fps, objects: moving.iter().map(object).collect(), has_velocities: false };
        let path = job.join(names::COLLIDER_STORE_FILE);
        let store = (!moving.is_empty()).then(|| StoreWriter::create(&path, &header)).transpose()?;
        Ok(ColliderTracks { moving, store })
    }

    /// Stores where they are in a frame.
    pub fn append(&mut self, frame: i64) -> Result<(), Failure> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let at = |(collider, outline): &(&ColliderModel, PolyMesh)| -> Vec<[f32; 3]> {
            collider.outline_at(outline, Moment::at(frame as f64)).iter().map(single).collect()
        };
        let positions: Vec<_> = self.moving.iter().map(at).collect();
        let objects: Vec<ObjectFrame> =
            positions.iter().map(|positions| ObjectFrame { positions, velocities: &[] }).collect();
        Ok(store.append(frame, &objects)?)
    }

    /// Gives the store its final name.
    pub fn finish(self) -> Result<Option<WrittenFile>, Failure> {
        Ok(self.store.map(StoreWriter::finish).transpose()?)
    }
}

fn single(p: &Vec3) -> [f32; 3] {
    p.map(|x| x as f32).into()
}
