//! What is in a job folder.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::bake::gates::Watch;
use crate::bake::outputs::Plan;
use crate::bake::{Exit, Failure};
use crate::cache::manifest::Manifest;
use crate::cache::{frames_log, names};

pub fn inspect(folder: &Path) -> Result<Json, Failure> {
    let path = folder.join(names::MANIFEST_FILE);
    if !path.is_file() {
        let cause = format!("{} is not a job folder: it has no {}", folder.display(), names::MANIFEST_FILE);
        return Err(Failure::new(Exit::InvalidInput, cause, "name the folder that `kiln bake` wrote"));
    }
    let manifest = Manifest::read(&path)?;
    let plan = Plan::from_json(&manifest.scene)?;
    let log = folder.join(names::FRAMES_LOG_FILE);
    let records = if log.exists() { frames_log::read(&log)? } else { Vec::new() };
    let mut watch = Watch::new(&plan.gates);
    records.iter().for_each(|record| watch.observe(record));
    let worst: Vec<Json> = watch
        .worst()
        .iter()
        .map(|worst| {
            let gate = worst.limit.map(|_| if worst.is_missed() { "missed" } else { "passed" });
            json!({
                "object": worst.object,
                "metric": worst.metric,
                "value": worst.value,
                "shown": worst.show(worst.value),
                "frame": worst.frame,
                "limit": worst.limit,
                "gate": gate,
            })
        })
        .collect();
    let stores = [names::STORE_FILE, names::PARTIAL_STORE_FILE].map(|name| folder.join(name));
    let store = stores.iter().find(|store| store.exists());
    Ok(json!({
        "kind": "job",
        "folder": folder,
        "scene": plan.name,
        "status": manifest.status,
        "exit_code": manifest.exit_code,
        "message": manifest.message,
        "tool": manifest.tool.describe(),
        "frames": {
            "first": manifest.frames.first,
            "last": manifest.frames.last,
            "simulated": records.len(),
            "written": records.iter().filter(|record| record.written).count(),
            "to_write": plan.written_frames.len(),
            "seconds": records.iter().map(|record| record.seconds).sum::<f64>(),
            "substeps": records.iter().map(|record| u64::from(record.substeps)).sum::<u64>(),
        },
        "store": store,
        "inputs": manifest.inputs,
        "coordinates": { "unit": plan.output.unit, "up": plan.output.up, "space": plan.output.space },
        "caches": manifest.caches,
        "tangled": manifest.tangled,
        "worst": worst,
        "degraded": watch.yielded().iter().map(|yielded| yielded.describe()).collect::<Vec<_>>(),
    }))
}
