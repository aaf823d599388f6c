//! Kiln bakes cloth and soft-body animation offline: artists' meshes and a scene file in, vertex caches out.
//!
//! ```text
//! scene.toml ─ scene::read ─► Scene ─┐
//! mesh.glb ─── import ─► Asset ──────┤
//!                                    ▼
//!                    model::build ─► Model (frozen) + State
//!                                      │
//!                    solver::Backend ◄─┘     per frame: drive → advance → fetch
//!                                      ▼
//!                    bake ─► cache::store (bake.kc, append-only, checksummed)
//!                                      ▼
//!                    cache::convert ─► pc2, mdd, obj, glb   (made again from the store at any time)
//!                    bake::movie ─► preview, render         (the same, looked at)
//! ```
//!
//! | layer | rooms | may use |
//! |---|---|---|
//! | 0 | `math` | |
//! | 1 | `mesh`, `scene` | 0 |
//! | 2 | `import`, `algorithms` | 0-1 |
//! | 3 | `model` | 0-2 |
//! | 4 | `solver`, `cache`, `render` | 0-3 |
//! | 5 | `bake` | 0-4 |
//! | 6 | `preview` | 0-5 |
//! | 7 | `cli` | all |
//!
//! Symbols are the thesis's: `m` mass, `k` inverse mass, `x` position, `v` velocity, `h` step, `B` the map from midpoints to
//! vertices, `W` the diagonal of inverse masses, `λ` multipliers. Units stand in brackets: `[m]`. Everything inside is in metres,
//! kilograms and seconds, Y up.

pub mod algorithms;
pub mod bake;
pub mod cache;
pub mod cli;
pub mod import;
pub mod math;
pub mod mesh;
pub mod model;
pub mod preview;
pub mod render;
pub mod scene;
pub mod solver;
