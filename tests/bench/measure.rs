//! What a benchmark needs besides a scene: processor time, limits, tables.

use kiln::model::{Moment, State};
use kiln::solver::cpu::CpuBackend;
use kiln::solver::{Backend, BodyReport, Drive, PhaseSeconds, Quality, Vertices, advance_frame};
use serde_json::{Value, json};

use crate::support::World;

/// A part of a benchmark.
pub type Part = fn(&Options) -> Value;

/// Run the parts that the command line asks for on one thread; tables, then one JSON object.
pub fn run_parts(benchmark: &str, parts: &[(&str, Part)]) {
    let names: Vec<&str> = parts.iter().map(|part| part.0).collect();
    let options = Options::read(&names);
    let load = load_average();
    println!(
        "Processor seconds of one thread (user and system); load average {load:?}; limit {} s a run",
        options.limit
    );
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let mut results = serde_json::Map::new();
    for (name, part) in parts.iter().filter(|part| options.parts.iter().any(|wanted| wanted == part.0)) {
        println!("\n## {name}");
        results.insert((*name).to_owned(), pool.install(|| part(&options)));
    }
    println!("\nload average {:?}\n", load_average());
    println!(
        "{}",
        json!({
            "benchmark": benchmark, "threads": 1, "clock": "processor seconds of one thread", "load_average": load,
            "limit_seconds": options.limit, "quick": options.quick, "parts": results,
        })
    );
}

/// Most rounds of a run, of which the best counts.
const MOST_ROUNDS: u32 = 3;

/// Processor time of this thread so far, user and system [s]: `/proc/thread-self/schedstat`. It moves on in ticks of some
/// milliseconds.
pub fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse::<f64>().unwrap() * 1e-9
}

/// Load averages of the last 1, 5 and 15 minutes.
pub fn load_average() -> Vec<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap();
    text.split_whitespace().take(3).map(|load| load.parse().unwrap()).collect()
}

/// Which parts shall run, and how long.
pub struct Options {
    pub quick: bool,
    /// Processor time after which a run ends early [s].
    pub limit: f64,
    pub parts: Vec<String>,
}

impl Options {
    /// From the command line: names of parts, `--quick`, `--limit=10`. All parts where none is named.
    pub fn read(known: &[&str]) -> Options {
        let mut options = Options { quick: false, limit: 60.0, parts: Vec::new() };
        for arg in std::env::args().skip(1) {
            match arg.strip_prefix("--limit=") {
                Some(limit) => options.limit = limit.parse().unwrap(),
                None if arg == "--quick" => options.quick = true,
                None if arg == "--bench" => {} // cargo adds it
                None if known.contains(&arg.as_str()) => options.parts.push(arg),
                None => {
                    panic!("`{arg}` is neither --quick nor --limit=SECONDS nor one of the parts {}", known.join(", "))
                }
            }
        }
        if options.quick {
            options.limit = options.limit.min(2.0);
        }
        if options.parts.is_empty() {
            options.parts = known.iter().map(|&part| part.to_owned()).collect();
        }
        options
    }
}

/// What a simulation took and how good it was.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Processor time from the start to the end of each frame [s].
    pub cpu: Vec<f64>,
    /// Steps of the attempts that count.
    pub substeps: u32,
    /// Of all attempts.
    pub attempts: u32,
    pub steps: u32,
    pub sweeps: u64,
    pub solves: u64,
    pub factorisations: u64,
    /// Largest stretch of the constraints.
    pub stretch: f64,
    /// Largest stretch of the visible edges, as written.
    pub visible: f64,
    /// Of a soft body: largest error of a part's volume, and of the whole.
    pub part_volume: f64,
    pub volume: f64,
    /// Most sweeps a step, mean of a frame.
    pub most_sweeps: f64,
    /// Largest part of the allowed stretch that the steps have left before the sweeps at a frame's end.
    pub strain: f64,
    /// Largest load number.
    pub load: f64,
    /// First frame that went out of bounds.
    pub broken_at: Option<i64>,
    /// Memory of a linear solver [B].
    pub linear_bytes: usize,
    pub end: State,
}

impl Run {
    pub fn frames(&self) -> usize {
        self.cpu.len()
    }

    /// Mean processor time of the first frames [s].
    pub fn frame_seconds(&self, frames: usize) -> f64 {
        frames.checked_sub(1).map_or(f64::NAN, |last| self.cpu[last] / frames as f64)
    }

    /// Mean processor time of a frame [s].
    pub fn mean_seconds(&self) -> f64 {
        self.frame_seconds(self.frames())
    }

    /// Processor time of a step, also of those that were in vain [s].
    pub fn step_seconds(&self) -> f64 {
        self.a_step(self.mean_seconds() * self.frames() as f64)
    }

    /// Something for each step, also of those that were in vain.
    pub fn a_step(&self, count: f64) -> f64 {
        count / f64::from(self.steps)
    }

    /// Steps of a frame that count.
    pub fn frame_steps(&self) -> f64 {
        self.a_frame(f64::from(self.substeps))
    }

    /// Attempts at a frame.
    pub fn frame_attempts(&self) -> f64 {
        self.a_frame(f64::from(self.attempts))
    }

    /// Something for each frame.
    pub fn a_frame(&self, count: f64) -> f64 {
        count / self.frames() as f64
    }

    /// The visible stretch in percent, or what went wrong.
    pub fn visible_percent(&self) -> Value {
        match self.broken_at {
            Some(frame) => format!("broken in frame {frame}").into(),
            None if self.visible.is_finite() => (100.0 * self.visible).into(),
            None => "no numbers".into(),
        }
    }
}

/// A backend that counts what it is asked for: frames that miss their tolerance are simulated again, and only the last attempt
/// is reported.
struct Counted<'m> {
    backend: CpuBackend<'m>,
    attempts: u32,
    steps: u32,
    now: Drive,
    sweeps: u64,
    solves: u64,
    factorisations: u64,
}

impl Backend for Counted<'_> {
    fn drive(&mut self, drive: Drive) {
        self.now = drive;
        self.backend.drive(drive);
    }

    fn advance(&mut self, state: &mut State) -> Vec<BodyReport> {
        let reports = self.backend.advance(state);
        self.attempts += 1;
        self.steps += self.now.substeps;
        self.sweeps += reports[0].iterations;
        self.solves += reports[0].linear.solves;
        self.factorisations += reports[0].linear.factorisations;
        reports
    }

    fn survey(&mut self, state: &State) -> Vec<BodyReport> {
        self.backend.survey(state)
    }

    fn fetch(&mut self, state: &State, cloth: usize, vertices: &mut Vertices) -> Quality {
        self.backend.fetch(state, cloth, vertices)
    }

    fn take_seconds(&mut self) -> PhaseSeconds {
        self.backend.take_seconds()
    }
}

/// Simulate once; ends early when `enough` says so, when the time is over, or when the cloth is out of bounds.
pub fn run_until(world: &World, limit: f64, enough: impl Fn(&Run) -> bool) -> Run {
    let World { scene, model, start } = world;
    let frame_seconds = scene.fps.frame_seconds();
    let now = Drive { moments: [Moment::start(scene); 2], seconds: 0.0, frame_seconds, substeps: 1 };
    let backend = CpuBackend::new(scene, model);
    let mut counted = Counted { backend, attempts: 0, steps: 0, now, sweeps: 0, solves: 0, factorisations: 0 };
    let mut run = Run { linear_bytes: counted.backend.linear_bytes(0), end: start.clone(), ..Run::default() };
    let mut vertices = Vertices::default();
    counted.fetch(&run.end, 0, &mut vertices);
    // Solvers are made once a bake, so that is not a part of the frames.
    let mut spent = 0.0;
    for frame in scene.first_frame..scene.last_frame {
        let before = cpu_seconds();
        let moments = [frame, frame + 1].map(|frame| Moment::at(frame as f64));
        let seconds = (frame - scene.first_frame) as f64 * frame_seconds;
        let report = advance_frame(
            &mut counted,
            scene,
            model,
            &mut run.end,
            Drive { moments, seconds, frame_seconds, substeps: 1 },
        );
        spent += cpu_seconds() - before;
        let quality = counted.fetch(&run.end, 0, &mut vertices);
        let cloth = &report.bodies[0];
        run.cpu.push(spent);
        run.substeps += report.substeps;
        run.stretch = run.stretch.max(quality.max_stretch);
        if !model.cloths.is_empty() {
            run.visible = run.visible.max(world.edge_stretch(&vertices).max);
        }
        run.part_volume = run.part_volume.max(quality.max_volume_error);
        run.volume = run.volume.max(quality.volume_error.abs());
        run.most_sweeps = run.most_sweeps.max(cloth.iterations as f64 / f64::from(report.substeps));
        run.strain = run.strain.max(cloth.strain);
        run.load = run.load.max(cloth.load);
        run.broken_at = cloth.broken_at.map(|_| frame + 1);
        if spent > limit || run.broken_at.is_some() || enough(&run) {
            break;
        }
    }
    let Counted { attempts, steps, sweeps, solves, factorisations, .. } = counted;
    Run { attempts, steps, sweeps, solves, factorisations, ..run }
}

/// Simulate, again where that is cheap; the fastest round.
pub fn run(world: &World, limit: f64) -> Run {
    let mut best = run_until(world, limit, |_| false);
    let mut spent = best.mean_seconds() * best.frames() as f64;
    for _ in 1..MOST_ROUNDS {
        if spent > limit / 10.0 {
            break;
        }
        let next = run_until(world, limit, |_| false);
        spent += next.mean_seconds() * next.frames() as f64;
        if next.frames() >= best.frames() && next.mean_seconds() < best.mean_seconds() {
            best = next;
        }
    }
    best
}

/// A Markdown table that is printed while it grows, and the same as JSON.
pub struct Table {
    columns: Vec<&'static str>,
    rows: Vec<Value>,
}

impl Table {
    pub fn new<const N: usize>(title: &str, columns: [&'static str; N]) -> Table {
        println!("\n### {title}\n\n| {} |\n|{}", columns.join(" | "), "---|".repeat(N));
        Table { columns: columns.to_vec(), rows: Vec::new() }
    }

    pub fn row<const N: usize>(&mut self, values: [Value; N]) {
        assert_eq!(N, self.columns.len());
        println!("| {} |", values.iter().map(shown).collect::<Vec<_>>().join(" | "));
        self.rows.push(self.columns.iter().map(|&column| column.to_owned()).zip(values).collect());
    }

    pub fn json(self) -> Value {
        self.rows.into()
    }
}

/// Four digits that count.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            let x = number.as_f64().unwrap();
            let digits = if x == 0.0 { 0.0 } else { (3.0 - x.abs().log10().floor()).clamp(0.0, 9.0) };
            format!("{x:.*}", digits as usize)
        }
        other => other.to_string(),
    }
}
