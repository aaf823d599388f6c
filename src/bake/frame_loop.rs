//! Frame after frame: drive, advance, fetch, and what comes out in the vertices of the artist's file.

use std::time::Instant;

use super::exit::{Exit, Failure};
use crate::algorithms::volume::embedding::Embedding;
use crate::cache::frames_log::{Degraded, FrameRecord, ObjectRecord};
use crate::cache::manifest::TangledStart;
use crate::cache::names;
use crate::cache::store::{ObjectFrame, StoreHeader, StoreObject, StoredObject};
use crate::math::Vec3;
use crate::mesh::measures::edge_stretch;
use crate::model::{BodyState, Broken, Model, Moment, Promise, Skin, SoftBodyModel, State};
use crate::scene::Scene;
use crate::solver::cpu::CpuBackend;
use crate::solver::device::DeviceReport;
use crate::solver::{Backend, BodyReport, Drive, PhaseSeconds, Quality, Vertices, advance_frame};

/// The simulation of a scene, one frame in memory.
pub struct FrameLoop<'m> {
    scene: &'m Scene,
    model: &'m Model,
    state: State,
    backend: Box<dyn Backend + 'm>,
    /// Frames since the start, pre-roll included: the clock of the weather.
    elapsed_frames: u64,
    /// Of the last frame.
    phase_seconds: PhaseSeconds,
    reports: Vec<BodyReport>,
    /// What was wrong with the bodies before anything moved.
    at_start: Vec<BodyReport>,
    qualities: Vec<Quality>,
    /// Per body: simulation vertices, then the same as file vertices; behind them the render meshes of soft bodies.
    vertices: Vec<Vertices>,
    file_vertices: Vec<StoredObject>,
    edge_lengths: Vec<f64>,
}

impl<'m> FrameLoop<'m> {
    /// Before the first frame and its pre-roll, on the processor.
    pub fn new(scene: &'m Scene, model: &'m Model, state: State) -> Self {
        Self::on(Box::new(CpuBackend::new(scene, model)), scene, model, state)
    }

    /// The same on some backend that was made for this model.
    pub fn on(mut backend: Box<dyn Backend + 'm>, scene: &'m Scene, model: &'m Model, state: State) -> Self {
        let count = model.body_count();
        backend.drive(drive(scene, [Moment::start(scene); 2], 0));
        FrameLoop {
            at_start: backend.survey(&state),
            backend,
            elapsed_frames: 0,
            phase_seconds: PhaseSeconds::default(),
            reports: vec![BodyReport::default(); count],
            qualities: vec![Quality::default(); count],
            vertices: vec![Vertices::default(); count],
            file_vertices: vec![StoredObject::default(); count + stored_renders(model).count()],
            edge_lengths: Vec::new(),
            scene,
            model,
            state,
        }
    }

    /// What the user should know of the backend since this was last asked.
    pub fn take_note(&mut self) -> Option<String> {
        self.backend.take_note()
    }

    /// What a device has done, if there is one.
    pub fn device_report(&self) -> Option<DeviceReport> {
        self.backend.device_report()
    }

    /// What the store has to know.
    pub fn store_header(&self) -> StoreHeader {
        let object = |skin: &Skin| StoreObject { name: skin.name.clone(), vertex_count: skin.surface.positions.len() };
        let render = |(_, body, render): (usize, &SoftBodyModel, &Embedding)| StoreObject {
            name: names::stored_render(&body.name),
            vertex_count: render.weights.len(),
        };
        let objects = self.model.skins().map(object).chain(stored_renders(self.model).map(render)).collect();
        StoreHeader { fps: self.scene.fps, objects, has_velocities: true }
    }

    /// One frame before the first one: colliders are dressed, then the cloth settles, then the run-up. Returns its steps.
    pub fn lead_in(&mut self) -> Result<u32, Failure> {
        let Scene { first_frame, dress_blend, settle, .. } = *self.scene;
        let (done, start) = (self.elapsed_frames, Moment::start(self.scene));
        let (dressing, settling) = (u64::from(dress_blend), u64::from(settle));
        let moments = if done < dressing {
            // Slow at both ends, so that nothing is torn away at the start and nothing swings at the end.
            let dressed = |done: u64| smooth(done as f64 / dressing as f64);
            [done, done + 1].map(|done| Moment { dressed: dressed(done), ..start })
        } else if done < dressing + settling {
            [Moment::at(start.frame); 2]
        } else {
            let frame = start.frame + (done - dressing - settling) as f64;
            [frame, frame + 1.0].map(Moment::at)
        };
        let substeps = self.advance(moments);
        self.check_device(first_frame)?;
        self.fetch();
        self.check_finite("in the pre-roll of", first_frame)?;
        Ok(substeps)
    }

    /// A frame of the range; the first one is the state as it is. Only a finite frame comes back.
    pub fn simulate(&mut self, frame: i64) -> Result<FrameRecord, Failure> {
        let start = Instant::now();
        let mut substeps = 0;
        if frame > self.scene.first_frame {
            substeps = self.advance([frame - 1, frame].map(|frame| Moment::at(frame as f64)));
        } else if self.elapsed_frames == 0 {
            self.reports.clone_from(&self.at_start);
        }
        self.check_device(frame)?;
        self.fetch();
        self.check_finite("at", frame)?;
        let mut record = FrameRecord {
            frame,
            seconds: 0.0,
            collider_seconds: if substeps > 0 { self.phase_seconds.colliders } else { 0.0 },
            contact_seconds: if substeps > 0 { self.phase_seconds.touching } else { 0.0 },
            substeps,
            iterations: self.sum(substeps, |report| report.iterations + report.linear.solves),
            factorisations: self.sum(substeps, |report| report.linear.factorisations),
            written: self.scene.written_frames.binary_search(&frame).is_ok(),
            objects: (0..self.model.body_count()).map(|body| self.object_record(body)).collect(),
        };
        record.seconds = start.elapsed().as_secs_f64();
        match record.not_finite() {
            Some(metric) => Err(not_finite(format!("{metric} is not finite at frame {frame}"))),
            None => Ok(record),
        }
    }

    /// What is stored of the last frame: the bodies in the vertices of their files, then render meshes of soft bodies.
    pub fn objects(&self) -> Vec<ObjectFrame<'_>> {
        let stored = self.file_vertices.iter();
        stored.map(|object| ObjectFrame { positions: &object.positions, velocities: &object.velocities }).collect()
    }

    fn advance(&mut self, moments: [Moment; 2]) -> u32 {
        let drive = drive(self.scene, moments, self.elapsed_frames);
        let report = advance_frame(self.backend.as_mut(), self.scene, self.model, &mut self.state, drive);
        self.reports = report.bodies;
        self.phase_seconds = report.seconds;
        self.elapsed_frames += 1;
        report.substeps
    }

    /// The sum of a count over all cloths; 0 for a frame without steps.
    fn sum(&self, substeps: u32, count: impl Fn(&BodyReport) -> u64) -> u64 {
        if substeps > 0 { self.reports.iter().map(count).sum() } else { 0 }
    }

    fn fetch(&mut self) {
        for (number, skin) in self.model.skins().enumerate() {
            let vertices = &mut self.vertices[number];
            self.qualities[number] = self.backend.fetch(&self.state, number, vertices);
            let StoredObject { positions, velocities } = &mut self.file_vertices[number];
            positions.clear();
            velocities.clear();
            for (v, rest) in skin.surface.positions.iter().enumerate() {
                positions.push(to_f32(skin.file_vertex(v, &vertices.positions).unwrap_or(*rest)));
                velocities.push(to_f32(skin.file_vertex(v, &vertices.velocities).unwrap_or_default()));
            }
        }
        let stored = self.file_vertices[self.model.body_count()..].iter_mut();
        for (StoredObject { positions, velocities }, (number, _, render)) in stored.zip(stored_renders(self.model)) {
            let moving = &self.state.bodies[number];
            let each = |values: &[Vec3]| (0..render.weights.len()).map(|v| to_f32(render.point(v, values))).collect();
            (*positions, *velocities) = (each(&moving.x), each(&moving.v));
        }
    }

    fn object_record(&mut self, number: usize) -> ObjectRecord {
        let (skin, quality, report) = (self.model.skin(number), self.qualities[number], &self.reports[number]);
        let positions = &self.vertices[number].positions;
        let soft = number.checked_sub(self.model.cloths.len()).map(|soft| &self.model.soft_bodies[soft]);
        let edges = match soft {
            None => {
                let cloth = &self.model.cloths[number];
                edge_stretch(&cloth.visible_edges, &cloth.visible_rest, positions, &mut self.edge_lengths)
            }
            Some(body) => {
                edge_stretch(&body.topology.edges, &body.mesh_edge_lengths, positions, &mut self.edge_lengths)
            }
        };
        ObjectRecord {
            name: skin.name.clone(),
            max_stretch: edges.max,
            p99_stretch: edges.p99,
            max_compression: edges.compression,
            max_constraint_stretch: quality.max_stretch,
            mean_constraint_stretch: quality.mean_stretch,
            max_volume_error: soft.map(|_| quality.max_volume_error.max(quality.volume_error.abs())),
            volume_error: soft.map(|_| quality.volume_error),
            contacts: u64::from(report.contacts),
            max_penetration: quality.max_penetration,
            crossings: u64::from(report.touched.crossings),
            released: u64::from(report.touched.released),
            cut: u64::from(report.touched.cut),
            degraded: report.broken.iter().map(|broken| self.degraded(skin, broken)).collect(),
        }
    }

    /// A broken promise in the names and vertices of the user.
    fn degraded(&self, skin: &Skin, broken: &Broken) -> Degraded {
        let name = |body: usize| match body.checked_sub(self.model.body_count()) {
            None => self.model.skin(body).name.clone(),
            Some(collider) => self.model.colliders[collider].name.clone(),
        };
        Degraded {
            promise: broken.promise,
            with: broken.with.map(name),
            count: broken.vertices.len() as u64,
            vertices: listed(skin, &broken.vertices),
        }
    }

    /// What had become at the last frame of the bodies that started tangled.
    pub fn tangled_starts(&self) -> Vec<TangledStart> {
        let parts = self.model.skins().zip(&self.at_start).zip(&self.reports).zip(&self.state.bodies);
        let tangled = |(((skin, start), now), state): (((&Skin, &BodyReport), &BodyReport), &BodyState)| {
            let crossing = start.broken.iter().filter(|broken| broken.promise == Promise::Crossing);
            let mut concerned: Vec<u32> = crossing.flat_map(|broken| broken.vertices.iter().copied()).collect();
            concerned.sort_unstable();
            concerned.dedup();
            let way = |&v: &u32| (state.written[v as usize] - skin.mesh.positions[v as usize]).norm();
            (!concerned.is_empty()).then(|| TangledStart {
                object: skin.name.clone(),
                crossings: u64::from(start.touched.crossings),
                count: concerned.len() as u64,
                vertices: listed(skin, &concerned),
                moved: concerned.iter().map(way).fold(0.0, f64::max),
                left: u64::from(now.touched.crossings),
            })
        };
        parts.filter_map(tangled).collect()
    }

    fn check_device(&self, frame: i64) -> Result<(), Failure> {
        self.backend.failure().map_or(Ok(()), |cause| {
            let remedy = "the frames before are in the partial store; bake again with --restart, or let it go on on the processor with \
                          --device-lost continue";
            Err(Failure::new(Exit::NoDevice, format!("frame {frame} could not be simulated: {cause}"), remedy))
        })
    }

    /// Every simulation vertex is also a file vertex, so looking at the latter misses nothing.
    fn check_finite(&self, when: &str, frame: i64) -> Result<(), Failure> {
        for (skin, report) in self.model.skins().zip(&self.reports) {
            if let Some(broken) = report.broken_at {
                let vertex = skin.mesh.from_file_vertex.iter().position(|&v| v == Some(broken)).unwrap_or_default();
                let name = &skin.name;
                let cause = format!("the position of vertex {vertex} of \"{name}\" is not finite {when} frame {frame}");
                return Err(not_finite(cause));
            }
        }
        let renders = stored_renders(self.model).map(|(_, body, _)| &body.name);
        for (name, object) in self.model.skins().map(|skin| &skin.name).chain(renders).zip(&self.file_vertices) {
            for (quantity, values) in [("position", &object.positions), ("velocity", &object.velocities)] {
                if let Some(vertex) = values.iter().position(|value| !value.iter().all(|x| x.is_finite())) {
                    let cause =
                        format!("the {quantity} of vertex {vertex} of \"{name}\" is not finite {when} frame {frame}");
                    return Err(not_finite(cause));
                }
            }
        }
        Ok(())
    }
}

/// Render meshes of soft bodies, which are stored because nothing in the store but themselves says where their lattice is: the number of the
/// body, the body, and what carries its render mesh.
fn stored_renders(model: &Model) -> impl Iterator<Item = (usize, &SoftBodyModel, &Embedding)> {
    let bodies = model.soft_bodies.iter().enumerate();
    bodies.filter_map(|(soft, body)| Some((model.cloths.len() + soft, body, body.render()?)))
}

/// Some simulation vertices, ascending, as numbers of the mesh file.
fn listed(skin: &Skin, vertices: &[u32]) -> Vec<u32> {
    let mut is_left = vec![true; vertices.len()]; // one of those that the mesh has at the same place
    let mut is_one = |v: Option<u32>| {
        let place = v.and_then(|v| vertices.binary_search(&v).ok());
        place.is_some_and(|place| std::mem::replace(&mut is_left[place], false))
    };
    let in_file = skin.mesh.from_file_vertex.iter().enumerate().filter(|(_, v)| is_one(**v));
    in_file.take(Degraded::LISTED).map(|(v, _)| v as u32).collect()
}

/// What acts during a frame; steps are chosen later.
fn drive(scene: &Scene, moments: [Moment; 2], elapsed_frames: u64) -> Drive {
    let fps = scene.fps;
    // From integers, so that long bakes do not drift.
    let seconds = elapsed_frames as f64 * f64::from(fps.denominator) / f64::from(fps.numerator);
    Drive { moments, seconds, frame_seconds: fps.frame_seconds(), substeps: 1 }
}

/// From 0 to 1, slow at both ends.
fn smooth(t: f64) -> f64 {
    t * t * (3.0 - 2.0 * t)
}

fn not_finite(cause: String) -> Failure {
    let remedy = "look for a collider or pin that jumps and for extreme values, or raise `substeps`; the frames before are in the partial store";
    Failure::new(Exit::SimulationFailed, cause, remedy)
}

fn to_f32(vector: Vec3) -> [f32; 3] {
    vector.map(|x| x as f32).into()
}
