//! Lattices of soft bodies that were made before; what is missing, damaged or of another version is made anew.
//!
//! ```text
//! "KILNTET1", nodes, tetrahedra, cells (u32 each), cell size (f64), report (length u32, JSON),
//! nodes (3 f64), tetrahedra (4 u32), cells (8 u32); numbers are little-endian
//! ```

use xxhash_rust::xxh3::Xxh3;

use crate::algorithms::volume::pseudo_volume::Settings;
use crate::algorithms::volume::tet_lattice::{Report, TetLattice};
use crate::import::kept;
use crate::math::Vec3;
use crate::mesh::tets::TetMesh;

const MAGIC: &[u8; 8] = b"KILNTET1";
/// Where they are kept.
const KIND: &str = "lattices";

/// The name of a lattice: a fingerprint of the mesh, the settings and the version that makes it.
pub fn key(positions: &[Vec3], triangles: &[[u32; 3]], settings: &Settings) -> String {
    let mut hash = Xxh3::new();
    hash.update(MAGIC);
    hash.update(env!("CARGO_PKG_VERSION").as_bytes());
    // All of the settings, in f64's shortest exact form.
    hash.update(format!("{settings:?}").as_bytes());
    positions.iter().flatten().for_each(|x| hash.update(&x.to_le_bytes()));
    triangles.iter().flatten().for_each(|v| hash.update(&v.to_le_bytes()));
    format!("{:032x}", hash.digest128())
}

/// A lattice that was made before.
pub fn load(key: &str) -> Option<TetLattice> {
    parse(&kept::load(KIND, key)?)
}

/// Keep a lattice for the next time.
pub fn save(key: &str, lattice: &TetLattice) {
    if let Some(bytes) = bytes(lattice) {
        kept::save(KIND, key, bytes);
    }
}

fn bytes(lattice: &TetLattice) -> Option<Vec<u8>> {
    let TetMesh { positions, tets, cells, cell_size } = &lattice.mesh;
    let report = serde_json::to_vec(&lattice.report).ok()?;
    let mut bytes = MAGIC.to_vec();
    for count in [positions.len(), tets.len(), cells.len()] {
        bytes.extend(u32::try_from(count).ok()?.to_le_bytes());
    }
    bytes.extend(cell_size.to_le_bytes());
    bytes.extend(u32::try_from(report.len()).ok()?.to_le_bytes());
    bytes.extend(report);
    positions.iter().flatten().for_each(|x| bytes.extend(x.to_le_bytes()));
    tets.iter().flatten().for_each(|node| bytes.extend(node.to_le_bytes()));
    cells.iter().flatten().for_each(|node| bytes.extend(node.to_le_bytes()));
    Some(bytes)
}

/// Takes numbers off the front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn f64(&mut self) -> Option<f64> {
        Some(f64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn numbers<const N: usize>(&mut self, below: usize) -> Option<[u32; N]> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.u32().filter(|number| (*number as usize) < below)?;
        }
        Some(numbers)
    }
}

fn parse(bytes: &[u8]) -> Option<TetLattice> {
    let mut reader = Reader(bytes);
    if reader.take(MAGIC.len())? != MAGIC {
        return None;
    }
    let [nodes, tets, cells] = [reader.u32()?, reader.u32()?, reader.u32()?].map(|count| count as usize);
    let cell_size = reader.f64()?;
    let length = reader.u32()? as usize;
    let report: Report = serde_json::from_slice(reader.take(length)?).ok()?;
    let positions =
        (0..nodes).map(|_| Some(Vec3::new(reader.f64()?, reader.f64()?, reader.f64()?))).collect::<Option<_>>()?;
    let tets = (0..tets).map(|_| reader.numbers(nodes)).collect::<Option<_>>()?;
    let cells = (0..cells).map(|_| reader.numbers(nodes)).collect::<Option<_>>()?;
    Some(TetLattice { mesh: TetMesh { positions, tets, cells, cell_size }, report })
}
