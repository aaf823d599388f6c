//! The methods, as pure mathematics: no state of their own, no threads, no files.
//!
//! "Bender14" is J. Bender's habilitation thesis on impulse-based simulation, whose sections and symbols are used throughout.
//! A kernel for the device stands beside its twin, with another ending; `tests/gpu` compares them.
//!
//! | section | method | file | kernel | test |
//! |---|---|---|---|---|
//! | 4.2.1 | distance constraint, position and velocity | `cloth/distance` | `.wgsl` | `tests/algorithms/distance` |
//! | 4.3.5 | midpoint model of a triangle mesh | `cloth/nonconforming` |  | `tests/algorithms/nonconforming` |
//! | 4.3.5 | vertices from midpoints, weighted return | `cloth/conforming_map` | `.wgsl` | `tests/algorithms/conforming_map` |
//! | 4.3.5 | isometric bending | `cloth/bending` | `.wgsl` | `tests/algorithms/bending` |
//! | 4.3.1 | threads of a quad mesh | `cloth/threads` | `.wgsl` | `tests/algorithms/threads` |
//! | 4.3.3 | all constraints as one linear system | `systems/linear_system` | `.wgsl` | `tests/algorithms/linear_system` |
//! | 4.3.4 | acyclic strips in linear time | `cloth/strips` |  | `tests/algorithms/strips` |
//! | 5.3.1.2 | conjugate gradients | `systems/conjugate_gradient` | `.wgsl` | `tests/algorithms/conjugate_gradient` |
//! | - | attachments: no farther from a pin than the cloth is long | `cloth/attachment` | `.wgsl` | `tests/algorithms/attachment` |
//! | - | elasticity in the plane | `cloth/elastic` | `.wgsl` | `tests/algorithms/elastic` |
//! | - | wind and drag | `cloth/air` | `.wgsl` | `tests/algorithms/air` |
//! | 3.4, 4.3.6 | resting contact with friction | `contact/resting` | `.wgsl` | `tests/algorithms/resting` |
//! | 3.4, 4.3.6 | contact of two features of meshes | `contact/pair` | `.wgsl` | `tests/algorithms/pair` |
//! | - | distance to colliders | `contact/signed_distance` | `.wgsl` of primitives, `_mesh.wgsl`; `finding.wgsl` finds what is near | `tests/algorithms/signed_distance` |
//! | - | distance between parts of cloth | `contact/proximity` | `.wgsl` | `tests/algorithms/proximity` |
//! | - | when moving parts of cloth meet | `contact/continuous` |  | `tests/algorithms/continuous` |
//! | - | the way out of a tangle | `contact/untangle` |  | `tests/algorithms/untangle` |
//! | 4.4.1.1 | space that any triangles take up | `volume/pseudo_volume` |  | `tests/algorithms/pseudo_volume` |
//! | 4.4.1.1 | lattice of tetrahedra | `volume/tet_lattice` |  | `tests/algorithms/tet_lattice` |
//! | 4.4.1.1 | mesh carried by tetrahedra | `volume/embedding` |  | `tests/algorithms/embedding` |
//! | 4.4.1.2 | volume of cells and one-rings | `volume/tet_volume` | `.wgsl` | `tests/algorithms/tet_volume` |
//! | 4.4.1.2 | damped springs on edges | `volume/edge_spring` | `.wgsl` | `tests/algorithms/edge_spring` |
//! | 4.4.2.2 | paths along a mesh | `shape_matching/paths` |  | `tests/algorithms/paths` |
//! | 4.4.2.2 | sums over regions from sums along paths | `shape_matching/fast_summation` | `.wgsl` | `tests/algorithms/fast_summation` |
//! | 4.4.2.2 | matched shapes of regions | `shape_matching/matching` | `.wgsl` | `tests/algorithms/matching` |
//! | 4.4.2.2 | damping of regions | `shape_matching/damping` | `.wgsl` | `tests/algorithms/damping` |
//! | 4.4.2.3 | volume inside a surface | `shape_matching/surface_volume` | `.wgsl` | `tests/algorithms/surface_volume` |
//! | 4.4.2.4 | render mesh along the normal field | `render_mesh` |  | `tests/algorithms/render_mesh` |
//! | 5.2 | independent groups | `parallel/independent_groups` |  | `tests/algorithms/independent_groups` |
//! | 5.3.1.1 | matrices in bins | `parallel/bin_csr` | `.wgsl` | `tests/algorithms/bin_csr` |

pub mod cloth;
pub mod contact;
pub mod parallel;
pub mod render_mesh;
pub mod shape_matching;
pub mod systems;
pub mod volume;
