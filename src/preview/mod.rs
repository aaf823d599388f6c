//! Looking at bakes in a browser: a page, the local server that feeds it, and the page with everything in it to send away.
//!
//! ```text
//! movies (bake::movie) ─► content (what the page asks for) ─┬─► server, on this machine only
//!                                                          └─► export, one file
//! ```
//!
//! The page is `page/`: written for this tool, without anything from elsewhere.

pub mod content;
pub mod export;
pub mod server;

const PAGE: &str = include_str!("page/index.html");
const STYLE: &str = include_str!("page/style.css");
/// In the order that `index.html` names.
const SCRIPTS: [&str; 13] = [
    include_str!("page/elements.js"),
    include_str!("page/geometry.js"),
    include_str!("page/source.js"),
    include_str!("page/camera.js"),
    include_str!("page/drawing.js"),
    include_str!("page/metrics.js"),
    include_str!("page/timeline.js"),
    include_str!("page/viewer.js"),
    include_str!("page/player.js"),
    include_str!("page/picture.js"),
    include_str!("page/controls.js"),
    include_str!("page/panels.js"),
    include_str!("page/handle.js"),
];

/// The page with its style and scripts; `data` is what an exported one has in it.
fn page(data: &str) -> String {
    let script = SCRIPTS.join("\n");
    PAGE.replace("/*KILN:style*/", STYLE).replace("/*KILN:script*/", &script).replace("<!--KILN:data-->", data)
}
