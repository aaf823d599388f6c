//! Wavefront MTL: as much of a material as every format can say. Textures are left out; what is missing gets a plain value.
//!
//! `Kd` and `Ke` are taken as linear, as Blender does, and their numbers kept. `Pm` and `Pr` are the usual words for
//! metal and roughness.

use std::path::Path;

use super::InputFile;
use crate::mesh::surface::{Material, PolyMesh};

/// The comment under a material whose back is not drawn. MTL has no word for it, and cloth is seen from both sides.
pub const SINGLE_SIDED: &str = "# kiln: single-sided";

/// How rough a material is that does not say so.
pub const PLAIN_ROUGHNESS: f64 = 0.8;

/// Reads the material libraries that a mesh names and that lie beside it in `folder`, and says which. One that is missing or
/// unreadable is passed over, as textures are: the simulation needs neither.
pub fn read_libraries(mesh: &mut PolyMesh, folder: &Path) -> Vec<InputFile> {
    let mut inputs = Vec::new();
    for statement in mesh.material_libraries.clone() {
        // One name with blanks, or several names.
        let whole = [statement.as_str()];
        let names: Vec<&str> = match folder.join(&statement).is_file() {
            true => whole.to_vec(),
            false => statement.split_whitespace().collect(),
        };
        for name in names {
            let path = folder.join(name);
            // Devices and pipes may never end.
            let Some(bytes) = path.is_file().then(|| std::fs::read(path).ok()).flatten() else {
                continue;
            };
            for material in parse(&String::from_utf8_lossy(&bytes)) {
                if mesh.material_definitions.iter().all(|known| known.name != material.name) {
                    mesh.material_definitions.push(material);
                }
            }
            inputs.push(InputFile::new(name, &bytes));
        }
    }
    inputs
}

/// The materials of a library; lines that make no sense are passed over.
pub fn parse(text: &str) -> Vec<Material> {
    let mut materials: Vec<Material> = Vec::new();
    for line in text.lines().map(str::trim) {
        let (keyword, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if keyword == "newmtl" {
            materials.push(plain(rest.trim()));
        }
        let Some(material) = materials.last_mut() else {
            continue;
        };
        let mut words = rest.split_whitespace().map(|word| word.parse::<f64>().ok().filter(|x| x.is_finite()));
        let mut numbers = [0.0; 3];
        let count = numbers.iter_mut().map_while(|number| words.next().flatten().map(|x| *number = x)).count();
        let color = if count == 1 { [numbers[0]; 3] } else { numbers }; // one number is a grey
        match keyword {
            "Kd" if count > 0 => material.base_color[..3].copy_from_slice(&color.map(|x| x.clamp(0.0, 1.0))),
            "Ke" if count > 0 => material.emissive = color.map(|x| x.max(0.0)),
            "d" if count > 0 => material.base_color[3] = numbers[0].clamp(0.0, 1.0),
            "Tr" if count > 0 => material.base_color[3] = (1.0 - numbers[0]).clamp(0.0, 1.0),
            "Pm" if count > 0 => material.metallic = numbers[0].clamp(0.0, 1.0),
            "Pr" if count > 0 => material.roughness = numbers[0].clamp(0.0, 1.0),
            _ if line == SINGLE_SIDED => material.double_sided = false,
            _ => {}
        }
    }
    materials
}

/// A material of which nothing but the name is known: neither metal, which viewers without surroundings draw black, nor white,
/// which drowns folds.
pub fn plain(name: &str) -> Material {
    Material {
        name: name.to_owned(),
        base_color: [0.35, 0.42, 0.52, 1.0],
        metallic: 0.0,
        roughness: PLAIN_ROUGHNESS,
        emissive: [0.0; 3],
        double_sided: true,
    }
}
