//! The fabrics that come with Kiln: one file each in `presets/fabrics`, compiled in.

use super::Fabric;

/// Name and file of each fabric, lightest first.
const FILES: [(&str, &str); 8] = [
    ("silk", include_str!("../../presets/fabrics/silk.toml")),
    ("cotton", include_str!("../../presets/fabrics/cotton.toml")),
    ("jersey", include_str!("../../presets/fabrics/jersey.toml")),
    ("wool", include_str!("../../presets/fabrics/wool.toml")),
    ("denim", include_str!("../../presets/fabrics/denim.toml")),
    ("rubber", include_str!("../../presets/fabrics/rubber.toml")),
    ("canvas", include_str!("../../presets/fabrics/canvas.toml")),
    ("leather", include_str!("../../presets/fabrics/leather.toml")),
];

/// Names of all fabrics, lightest first.
pub fn names() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}

/// A fabric by its name.
pub fn find(name: &str) -> Option<Fabric> {
    let (_, text) = FILES.iter().find(|(known, _)| *known == name)?;
    toml::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fabric_reads_and_is_plausible() {
        for name in names() {
            let fabric = find(name).unwrap_or_else(|| panic!("{name} does not read"));
            assert!((0.01..2.0).contains(&fabric.density), "{name}");
            assert!((1e-7..1e-2).contains(&fabric.bend), "{name}");
            assert!((0.0..0.1).contains(&fabric.damping), "{name}");
            assert!((0.1..1.0).contains(&fabric.friction), "{name}");
            assert!((0.0005..0.005).contains(&fabric.thickness), "{name}");
            assert!((10.0..10_000.0).contains(&fabric.shear), "{name}");
            // What has a stiffness below its limit may use it.
            let is_elastic = ["jersey", "rubber"].contains(&name);
            assert_eq!(fabric.warp.is_some(), is_elastic, "{name}");
            assert_eq!(fabric.max_stretch > 0.01, is_elastic, "{name}");
            assert!(fabric.warp.is_none_or(|warp| (50.0..5000.0).contains(&warp)), "{name}");
            assert!(fabric.weft.is_none_or(|weft| fabric.warp.is_some_and(|warp| weft <= warp)), "{name}");
        }
        let densities: Vec<f64> = names().into_iter().filter_map(find).map(|fabric| fabric.density).collect();
        assert!(densities.is_sorted());
        assert_eq!(find("cardboard"), None);
    }
}
