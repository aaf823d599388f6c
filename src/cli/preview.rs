//! `kiln preview`: a bake in the browser.

use std::path::{Path, PathBuf};

use clap::Args;

use super::switch;
use super::terminal::{log, print};
use crate::bake::movie::Movie;
use crate::bake::{Exit, Failure};
use crate::cache::atomic::AtomicFile;
use crate::preview::content::{Bake, tell_apart};
use crate::preview::export::{Exported, Reduction, export};
use crate::preview::server::Server;

#[derive(Debug, Args)]
pub struct PreviewArgs {
    /// A job folder, its bake.kc or an animated .glb or .gltf file
    path: PathBuf,
    /// Another one, to compare
    with: Option<PathBuf>,
    /// Port on 127.0.0.1; 0 takes any that is free
    #[arg(long, default_value_t = 0, env = "KILN_PORT")]
    port: u16,
    /// Open the page in the browser, the exported one too
    #[arg(long, env = "KILN_OPEN", value_parser = switch())]
    open: bool,
    /// Write one page with everything in it instead, to send away; the options below mean nothing without this
    #[arg(long, value_name = "PAGE.html", env = "KILN_EXPORT")]
    export: Option<PathBuf>,
    /// With --export: keep every so many frames one
    #[arg(long, value_name = "COUNT", default_value_t = 1, env = "KILN_EVERY", value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// With --export: how far positions may be off [m]; smaller files for larger numbers [default: what colours by
    /// stretch need, at most 0.0002]
    #[arg(long, value_name = "METRES", env = "KILN_PRECISION", value_parser = precision)]
    precision: Option<f64>,
    /// With --export: leave out what colours by contact need
    #[arg(long, env = "KILN_NO_CONTACT", value_parser = switch())]
    no_contact: bool,
}

fn precision(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "this is not a number".to_owned())?;
    if value >= 0.0 && value.is_finite() { Ok(value) } else { Err("it must not be negative".to_owned()) }
}

pub fn run(arguments: &PreviewArgs) -> Result<(), Failure> {
    if let Some(page) = &arguments.export {
        check_name(page)?;
    }
    let paths = std::iter::once(&arguments.path).chain(&arguments.with);
    let mut bakes = paths.map(|path| Movie::open(path).map(Bake::new)).collect::<Result<Vec<_>, _>>()?;
    if let Some(bake) = bakes.iter().find(|bake| bake.movie().frames.is_empty() && !bake.is_running()) {
        let cause = format!("{} has no frames", bake.movie().path.display());
        return Err(Failure::new(Exit::InvalidInput, cause, "bake it again with --restart"));
    }
    tell_apart(&mut bakes);
    if let Some(page) = &arguments.export {
        let reduction = Reduction {
            every: arguments.every as usize,
            precision: arguments.precision,
            contact: !arguments.no_contact,
        };
        write(page, &export(&mut bakes, &reduction)?)?;
        if arguments.open {
            let page = std::path::absolute(page).unwrap_or_else(|_| page.clone());
            show(&page.display().to_string());
        }
        return Ok(());
    }
    let server = Server::start(arguments.port)?;
    let address = format!("http://{}/", server.address);
    // Alone on its line, for scripts.
    print(&format!("{address}\n"))?;
    log("press Ctrl-C to end");
    if arguments.open {
        show(&address);
    }
    server.run(bakes)
}

/// Open a page in the browser.
fn show(address: &str) {
    if let Err(error) = open::that_detached(address) {
        log(&format!("warning: no browser could be opened ({error}); open {address} yourself"));
    }
}

/// Whoever mistypes must not lose a file: nothing is replaced but pages.
fn check_name(page: &Path) -> Result<(), Failure> {
    let ending = page.extension().map(|ending| ending.to_ascii_lowercase());
    let (cause, remedy) = if ending.is_none_or(|ending| ending != "html" && ending != "htm") {
        ("is no name of a page", "let its name end in .html")
    } else if page.is_dir() {
        ("is a folder", "name a file")
    } else {
        return Ok(());
    };
    Err(Failure::new(Exit::Usage, format!("--export: {} {cause}", page.display()), remedy))
}

/// A bound with two digits that count, rounded up so that it still holds.
fn bound(value: f64) -> String {
    // Less than single precision keeps.
    if value < 1e-9 {
        return "0".to_owned();
    }
    let decimals = (1.0 - value.log10().floor()).max(0.0);
    let unit = 10.0_f64.powf(-decimals);
    format!("{:.*}", decimals as usize, unit * (value / unit - 1e-6).ceil())
}

fn write(path: &Path, exported: &Exported) -> Result<(), Failure> {
    let mut file = AtomicFile::create(path)?;
    file.put(exported.html.as_bytes())?;
    let written = file.commit()?;
    let frames: Vec<String> = exported.frames.iter().map(usize::to_string).collect();
    let stretch = exported.stretch_error.map(|error| format!(", stretch within {} %", bound(1e2 * error)));
    log(&format!(
        "{}: {:.1} MB, {} frames, positions within {} mm{}",
        path.display(),
        written.bytes as f64 / 1e6,
        frames.join(" and "),
        bound(1e3 * exported.largest_error),
        stretch.unwrap_or_default()
    ));
    Ok(())
}
