//! Meshes of tetrahedra for other programs: VTK's legacy text format (ParaView, Houdini by plug-in, meshio) and TetGen's pair of `.node` and
//! `.ele`. Numbers are written so that reading them gives the same bits.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::atomic::{AtomicFile, WrittenFile};
use super::error::Result;
use crate::mesh::tets::TetMesh;

/// A format for tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TetFormat {
    /// One file.
    Vtk,
    /// Nodes and elements apart.
    TetGen,
}

impl TetFormat {
    /// By the extension of a file; `None` for others.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "vtk" => Some(TetFormat::Vtk),
            "node" | "ele" => Some(TetFormat::TetGen),
            _ => None,
        }
    }

    /// The files that are written for a name.
    pub fn files(self, path: &Path) -> Vec<PathBuf> {
        match self {
            TetFormat::Vtk => vec![path.to_owned()],
            TetFormat::TetGen => vec![path.with_extension("node"), path.with_extension("ele")],
        }
    }
}

/// The number of a tetrahedron among VTK's kinds of cells.
const VTK_TETRA: u32 = 10;

/// Writes a mesh of tetrahedra.
pub fn write(path: &Path, format: TetFormat, mesh: &TetMesh) -> Result<Vec<WrittenFile>> {
    let texts = match format {
        TetFormat::Vtk => vec![vtk(mesh)],
        TetFormat::TetGen => vec![nodes(mesh), elements(mesh)],
    };
    let files = format.files(path);
    files.iter().zip(texts).map(|(file, text)| put(file, &text)).collect()
}

fn put(path: &Path, text: &str) -> Result<WrittenFile> {
    let mut file = AtomicFile::create(path)?;
    file.put(text.as_bytes())?;
    file.commit()
}

// Writing into a String does not fail.
fn vtk(mesh: &TetMesh) -> String {
    let mut text = "# vtk DataFile Version 3.0\ntetrahedra by Kiln\nASCII\nDATASET UNSTRUCTURED_GRID\n".to_owned();
    let _ = writeln!(text, "POINTS {} double", mesh.positions.len());
    for p in &mesh.positions {
        let _ = writeln!(text, "{} {} {}", p.x, p.y, p.z);
    }
    let count = mesh.tets.len();
    let _ = writeln!(text, "CELLS {count} {}", 5 * count);
    for [a, b, c, d] in &mesh.tets {
        let _ = writeln!(text, "4 {a} {b} {c} {d}");
    }
    let _ = writeln!(text, "CELL_TYPES {count}");
    text += &format!("{VTK_TETRA}\n").repeat(count);
    text
}

fn nodes(mesh: &TetMesh) -> String {
    let mut text = format!("{} 3 0 0\n", mesh.positions.len());
    for (number, p) in mesh.positions.iter().enumerate() {
        let _ = writeln!(text, "{number} {} {} {}", p.x, p.y, p.z);
    }
    text
}

fn elements(mesh: &TetMesh) -> String {
    let mut text = format!("{} 4 0\n", mesh.tets.len());
    for (number, [a, b, c, d]) in mesh.tets.iter().enumerate() {
        // TetGen orders corners the other way round.
        let _ = writeln!(text, "{number} {a} {c} {b} {d}");
    }
    text
}
