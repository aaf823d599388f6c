//! `kiln devices`

use clap::Args;
use serde_json::json;

use super::switch;
use super::terminal::{print, show_bytes};
use crate::bake::{Exit, Failure};
use crate::solver::device::{AdapterSummary, WORTH_A_CARD, list_adapters};

#[derive(Debug, Args)]
pub struct DevicesArgs {
    /// Write JSON
    #[arg(long, env = "KILN_JSON", value_parser = switch())]
    json: bool,
}

pub fn run(arguments: &DevicesArgs) -> Result<(), Failure> {
    let adapters = list_adapters();
    let card = adapters.iter().find(|adapter| adapter.lacks.is_none() && !adapter.is_software());
    if arguments.json {
        let used = card.map(|card| &card.name);
        let listed = json!({ "adapters": adapters, "gpu": used, "auto_from_particles": WORTH_A_CARD });
        let text = serde_json::to_string_pretty(&listed)
            .map_err(|error| Failure::new(Exit::Unexpected, error.to_string(), "please report it"))?;
        return print(&format!("{text}\n"));
    }
    let mut text = String::new();
    for adapter in &adapters {
        text += &describe(adapter);
    }
    if adapters.is_empty() {
        text += "no adapters";
        text += if cfg!(feature = "gpu") { "\n" } else { ": this Kiln was built without graphics cards\n" };
    }
    text += &match card {
        Some(card) => format!(
            "--device gpu takes {} ({}); auto does from {WORTH_A_CARD} particles on\n",
            card.name, card.interface
        ),
        None => "--device auto takes the processor; there is no graphics card for --device gpu\n".to_owned(),
    };
    print(&text)
}

fn describe(adapter: &AdapterSummary) -> String {
    let AdapterSummary { name, interface, kind, driver, .. } = adapter;
    let use_of_it = match (&adapter.lacks, adapter.is_software()) {
        (Some(lacks), _) => format!("cannot be used: {lacks}"),
        (None, true) => "used only if it is named: it is slower than --device cpu".to_owned(),
        (None, false) => "can be used".to_owned(),
    };
    format!(
        "{name}\n  {interface}, {kind}, {driver}\n  arrays of {}, {} of them a kernel, workgroups of {} ({} in a row), {}\n  {use_of_it}\n",
        show_bytes(adapter.largest_binding.min(adapter.largest_buffer)),
        adapter.storage_buffers,
        adapter.workgroup,
        adapter.workgroups,
        if adapter.has_timestamps { "time stamps" } else { "no time stamps" },
    )
}
