//! Frame after frame: drive, advance, fetch, and what comes out in the vertices of the artist's file.

use std::time::Instant;

use super::exit::{Exit, Failure};
use crate::cache::frames_log::{Degraded, FrameRecord, ObjectRecord};
use crate::cache::manifest::TangledStart;
use crate::cache::store::{ObjectFrame, StoreHeader, StoreObject, StoredObject};
use crate::math::Vec3;
use crate::mesh::measures::edge_stretch;
use crate::model::{Broken, ClothModel, ClothState, Model, Moment, Promise, State};
use crate::scene::Scene;
use crate::solver::cpu::CpuBackend;
use crate::solver::{Backend, ClothReport, Drive, PhaseSeconds, Quality, Vertices, advance_frame};

/// The simulation of a scene, one frame in memory.
pub struct FrameLoop<'m> {
    scene: &'m Scene,
    model: &'m Model,
    state: State,
    backend: CpuBackend<'m>,
    /// Frames since the start, pre-roll included: the clock of the weather.
    elapsed_frames: u64,
    /// Of the last frame.
    phase_seconds: PhaseSeconds,
    reports: Vec<ClothReport>,
    /// What was wrong with the cloths before anything moved.
    at_start: Vec<ClothReport>,
    qualities: Vec<Quality>,
    /// Per cloth: simulation vertices, then the same as file vertices.
    vertices: Vec<Vertices>,
    file_vertices: Vec<StoredObject>,
    edge_lengths: Vec<f64>,
}

impl<'m> FrameLoop<'m> {
    /// Before the first frame and its pre-roll.
    pub fn new(scene: &'m Scene, model: &'m Model, state: State) -> Self {
        let count = model.cloths.len();
        let mut backend = CpuBackend::new(scene, model);
        backend.drive(drive(scene, [Moment::start(scene); 2], 0));
        FrameLoop {
            at_start: backend.survey(&state),
            backend,
            elapsed_frames: 0,
            phase_seconds: PhaseSeconds::default(),
            reports: vec![ClothReport::default(); count],
            qualities: vec![Quality::default(); count],
            vertices: vec![Vertices::default(); count],
            file_vertices: vec![StoredObject::default(); count],
            edge_lengths: Vec::new(),
            scene,
            model,
            state,
        }
    }

    /// What the store has to know.
    pub fn store_header(&self) -> StoreHeader {
        let object =
            |cloth: &ClothModel| StoreObject { name: cloth.name.clone(), vertex_count: cloth.surface.positions.len() };
        StoreHeader { fps: self.scene.fps, objects: self.model.cloths.iter().map(object).collect() }
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
            objects: (0..self.model.cloths.len()).map(|cloth| self.object_record(cloth)).collect(),
        };
        record.seconds = start.elapsed().as_secs_f64();
        match record.not_finite() {
            Some(metric) => Err(not_finite(format!("{metric} is not finite at frame {frame}"))),
            None => Ok(record),
        }
    }

    /// The cloths of the last frame in the vertices of their files.
    pub fn objects(&self) -> Vec<ObjectFrame<'_>> {
        let stored = self.file_vertices.iter();
        stored.map(|object| ObjectFrame { positions: &object.positions, velocities: &object.velocities }).collect()
    }

    fn advance(&mut self, moments: [Moment; 2]) -> u32 {
        let drive = drive(self.scene, moments, self.elapsed_frames);
        let report = advance_frame(&mut self.backend, self.scene, self.model, &mut self.state, drive);
        self.reports = report.cloths;
        self.phase_seconds = report.seconds;
        self.elapsed_frames += 1;
        report.substeps
    }

    /// The sum of a count over all cloths; 0 for a frame without steps.
    fn sum(&self, substeps: u32, count: impl Fn(&ClothReport) -> u64) -> u64 {
        if substeps > 0 { self.reports.iter().map(count).sum() } else { 0 }
    }

    fn fetch(&mut self) {
        for (number, cloth) in self.model.cloths.iter().enumerate() {
            let vertices = &mut self.vertices[number];
            self.qualities[number] = self.backend.fetch(&self.state, number, vertices);
            let StoredObject { positions, velocities } = &mut self.file_vertices[number];
            positions.clear();
            velocities.clear();
            for (v, rest) in cloth.surface.positions.iter().enumerate() {
                positions.push(to_f32(cloth.file_vertex(v, &vertices.positions).unwrap_or(*rest)));
                velocities.push(to_f32(cloth.file_vertex(v, &vertices.velocities).unwrap_or_default()));
            }
        }
    }

    fn object_record(&mut self, number: usize) -> ObjectRecord {
        let (cloth, quality) = (&self.model.cloths[number], self.qualities[number]);
        let positions = &self.vertices[number].positions;
        let edges = edge_stretch(&cloth.visible_edges, &cloth.visible_rest, positions, &mut self.edge_lengths);
        ObjectRecord {
            name: cloth.name.clone(),
            max_stretch: edges.max,
            p99_stretch: edges.p99,
            max_compression: edges.compression,
            max_constraint_stretch: quality.max_stretch,
            mean_constraint_stretch: quality.mean_stretch,
            contacts: u64::from(self.reports[number].contacts),
            max_penetration: quality.max_penetration,
            crossings: u64::from(self.reports[number].touched.crossings),
            released: u64::from(self.reports[number].touched.released),
            cut: u64::from(self.reports[number].touched.cut),
            degraded: self.reports[number].broken.iter().map(|broken| self.degraded(cloth, broken)).collect(),
        }
    }

    /// A broken promise in the names and vertices of the user.
    fn degraded(&self, cloth: &ClothModel, broken: &Broken) -> Degraded {
        let Model { cloths, colliders, .. } = self.model;
        let name = |body: usize| match body.checked_sub(cloths.len()) {
            None => cloths[body].name.clone(),
            Some(collider) => colliders[collider].name.clone(),
        };
        Degraded {
            promise: broken.promise,
            with: broken.with.map(name),
            count: broken.vertices.len() as u64,
            vertices: listed(cloth, &broken.vertices),
        }
    }

    /// What had become at the last frame of the cloths that started tangled.
    pub fn tangled_starts(&self) -> Vec<TangledStart> {
        let parts = self.model.cloths.iter().zip(&self.at_start).zip(&self.reports).zip(&self.state.cloths);
        let tangled = |(((cloth, start), now), state): (((&ClothModel, &ClothReport), &ClothReport), &ClothState)| {
            let crossing = start.broken.iter().filter(|broken| broken.promise == Promise::Crossing);
            let mut concerned: Vec<u32> = crossing.flat_map(|broken| broken.vertices.iter().copied()).collect();
            concerned.sort_unstable();
            concerned.dedup();
            let way = |&v: &u32| (state.written[v as usize] - cloth.mesh.positions[v as usize]).norm();
            (!concerned.is_empty()).then(|| TangledStart {
                object: cloth.name.clone(),
                crossings: u64::from(start.touched.crossings),
                count: concerned.len() as u64,
                vertices: listed(cloth, &concerned),
                moved: concerned.iter().map(way).fold(0.0, f64::max),
                left: u64::from(now.touched.crossings),
            })
        };
        parts.filter_map(tangled).collect()
    }

    /// Every simulation vertex is also a file vertex, so looking at the latter misses nothing.
    fn check_finite(&self, when: &str, frame: i64) -> Result<(), Failure> {
        for (cloth, report) in self.model.cloths.iter().zip(&self.reports) {
            if let Some(broken) = report.broken_at {
                let vertex = cloth.mesh.from_file_vertex.iter().position(|&v| v == Some(broken)).unwrap_or_default();
                let name = &cloth.name;
                let cause = format!("the position of vertex {vertex} of \"{name}\" is not finite {when} frame {frame}");
                return Err(not_finite(cause));
            }
        }
        for (cloth, object) in self.model.cloths.iter().zip(&self.file_vertices) {
            for (quantity, values) in [("position", &object.positions), ("velocity", &object.velocities)] {
                if let Some(vertex) = values.iter().position(|value| !value.iter().all(|x| x.is_finite())) {
                    let name = &cloth.name;
                    let cause =
                        format!("the {quantity} of vertex {vertex} of \"{name}\" is not finite {when} frame {frame}");
                    return Err(not_finite(cause));
                }
            }
        }
        Ok(())
    }
}

/// Some simulation vertices, ascending, as numbers of the mesh file.
fn listed(cloth: &ClothModel, vertices: &[u32]) -> Vec<u32> {
    let mut is_left = vec![true; vertices.len()]; // one of those that the mesh has at the same place
    let mut is_one = |v: Option<u32>| {
        let place = v.and_then(|v| vertices.binary_search(&v).ok());
        place.is_some_and(|place| std::mem::replace(&mut is_left[place], false))
    };
    let in_file = cloth.mesh.from_file_vertex.iter().enumerate().filter(|(_, v)| is_one(**v));
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
