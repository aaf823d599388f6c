//! What a benchmark needs besides a scene: processor time, limits, tables.

use kiln::model::State;
use kiln::solver::cpu::CpuBackend;
use serde_json::Value;

use crate::support::World;

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
    pub substeps: u32,
    pub sweeps: u64,
    pub solves: u64,
    pub factorisations: u64,
    /// Largest stretch of the constraints.
    pub stretch: f64,
    /// Largest stretch of the visible edges, as written.
    pub visible: f64,
    /// Largest part of the allowed stretch that the steps have left before the sweeps at a frame's end.
    pub strain: f64,
    /// Largest load number.
    pub load: f64,
    /// First frame that went out of bounds.
    pub broken_at: Option<i64>,
    /// Memory of a linear solver [B].
    pub linear_bytes: usize,
    /// Processor time to make the solver [s].
    pub setup: f64,
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

    /// Something for each step.
    pub fn a_step(&self, count: f64) -> f64 {
        count / f64::from(self.substeps)
    }

    /// Steps of a frame.
    pub fn frame_steps(&self) -> f64 {
        f64::from(self.substeps) / self.frames() as f64
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

/// Simulate once; ends early when `enough` says so, when the time is over, or when the cloth is out of bounds.
pub fn run_until(world: &World, limit: f64, enough: impl Fn(&Run) -> bool) -> Run {
    // Solvers are made once a bake, so that is not a part of the frames.
    let before = cpu_seconds();
    let linear_bytes = CpuBackend::new(&world.scene, &world.model).linear_bytes(0);
    let start = cpu_seconds();
    let mut run = Run { linear_bytes, setup: start - before, ..Run::default() };
    let end = world.simulate_while(|frame| {
        let report = &frame.report.cloths[0];
        run.cpu.push((cpu_seconds() - start - run.setup).max(0.0));
        run.substeps += frame.report.substeps;
        run.sweeps += report.iterations;
        run.solves += report.linear.solves;
        run.factorisations += report.linear.factorisations;
        run.stretch = run.stretch.max(frame.quality[0].max_stretch);
        run.visible = run.visible.max(world.edge_stretch(&frame.vertices[0]).max);
        run.strain = run.strain.max(report.strain);
        run.load = run.load.max(report.load);
        run.broken_at = report.broken_at.map(|_| frame.number);
        run.cpu[run.cpu.len() - 1] < limit && run.broken_at.is_none() && !enough(&run)
    });
    Run { end, ..run }
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
