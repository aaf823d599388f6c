//! The fabrics that come with Kiln: one file each in `presets/fabrics`, compiled in.

use super::Fabric;

/// Name and file of each fabric, lightest first.
const FILES: [(&str, &str); 5] = [
    ("silk", include_str!("../../presets/fabrics/silk.toml")),
    ("cotton", include_str!("../../presets/fabrics/cotton.toml")),
    ("wool", include_str!("../../presets/fabrics/wool.toml")),
    ("denim", include_str!("../../presets/fabrics/denim.toml")),
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
            assert_eq!(fabric.max_stretch, 0.01, "{name}");
        }
        let densities: Vec<f64> = names().into_iter().filter_map(find).map(|fabric| fabric.density).collect();
        assert!(densities.is_sorted());
        assert_eq!(find("cardboard"), None);
    }
}
