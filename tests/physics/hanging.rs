//! The promise of the thesis' figure 4.10: the tolerance is the largest stretch.

use crate::hanging_sheet;
use crate::support::full;

#[test]
fn the_tolerance_holds_at_every_frame() {
    let (vertices, frames) = if full() { (41, 150) } else { (21, 60) };
    for tolerance in [0.1, 0.01, 0.001] {
        let world = hanging_sheet(vertices, frames, &format!("max_stretch = {tolerance}"));
        let (mut peak, mut peak_edge, mut substeps) = (0.0_f64, 0.0_f64, 0);
        world.simulate(|frame| {
            peak = peak.max(frame.quality[0].max_stretch);
            peak_edge = peak_edge.max(world.edge_stretch(&frame.vertices[0]).max);
            substeps += frame.report.substeps;
            assert!(peak <= tolerance, "frame {}: {peak} of {tolerance}", frame.number);
        });
        println!(
            "{vertices}x{vertices}, {frames} frames, tolerance {tolerance}: constraints {peak:.6}, edges {peak_edge:.4}, {substeps} substeps"
        );
        assert!(peak > 0.0, "a hanging sheet is never perfectly free of stretch: the figure is not measured");
    }
}
