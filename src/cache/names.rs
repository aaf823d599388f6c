//! Every name, magic number and version that reaches the disk.

use std::path::{Path, PathBuf};

/// The native store of a job.
pub const STORE_FILE: &str = "bake.kc";
/// The native store while it is written.
pub const PARTIAL_STORE_FILE: &str = "bake.kc.partial";
/// What was baked from what, and how it ended.
pub const MANIFEST_FILE: &str = "manifest.json";
/// One line of metrics a frame.
pub const FRAMES_LOG_FILE: &str = "frames.jsonl";
/// Held while a job is written.
pub const LOCK_FILE: &str = ".lock";
/// The folder of meshes that match the vertex order of the caches.
pub const REST_FOLDER: &str = "rest";
/// The folder of the colliders' meshes, to look at.
pub const COLLIDER_FOLDER: &str = "colliders";
/// Where the vertices of colliders that move are in each frame.
pub const COLLIDER_STORE_FILE: &str = "colliders.kc";
/// Appended to the name of a file that is not finished.
pub const PARTIAL_SUFFIX: &str = ".partial";

/// First bytes of a store.
pub const STORE_MAGIC: [u8; 8] = *b"KILNBAKE";
/// First bytes of a frame in a store.
pub const STORE_FRAME_MAGIC: [u8; 8] = *b"KILNFRAM";
/// First bytes of the end record of a finished store.
pub const STORE_END_MAGIC: [u8; 8] = *b"KILNDONE";
/// Layout of the store; a reader refuses a higher number.
pub const STORE_VERSION: u32 = 2;
/// Layout of stores that have velocities.
pub const STORE_VERSION_WITH_VELOCITIES: u32 = 1;
/// Layout of the manifest; a reader refuses a higher number.
pub const MANIFEST_VERSION: u32 = 1;

/// First bytes of a PC2 file.
pub const PC2_MAGIC: [u8; 12] = *b"POINTCACHE2\0";
/// The only version of PC2 there is.
pub const PC2_VERSION: i32 = 1;

/// First bytes of a GLB.
pub const GLB_MAGIC: [u8; 4] = *b"glTF";
/// The version of glTF that is written.
pub const GLB_VERSION: u32 = 2;
/// What the text of a GLB is marked with.
pub const GLB_JSON_CHUNK: [u8; 4] = *b"JSON";
/// What the numbers of a GLB are marked with.
pub const GLB_BIN_CHUNK: [u8; 4] = *b"BIN\0";
/// Ends the name of the raw frames beside a GLB, in place of `.glb`.
pub const GLB_FRAMES_SUFFIX: &str = ".frames.bin";

/// `name` while it is written.
pub fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(PARTIAL_SUFFIX);
    PathBuf::from(name)
}

/// Whether a file is not finished, by its name.
pub fn is_partial(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(PARTIAL_SUFFIX.as_bytes())
}

/// The rest mesh of an object, relative to the job folder.
pub fn rest_file(object: &str) -> PathBuf {
    Path::new(REST_FOLDER).join(format!("{}.obj", safe_name(object)))
}

/// The rest mesh of an object's render mesh, relative to the job folder.
pub fn render_rest_file(object: &str) -> PathBuf {
    Path::new(REST_FOLDER).join(format!("{}.render.obj", safe_name(object)))
}

/// The mesh of a collider, relative to the job folder.
pub fn collider_file(object: &str) -> PathBuf {
    Path::new(COLLIDER_FOLDER).join(format!("{}.obj", safe_name(object)))
}

/// What the render mesh of a soft body is called in the store.
pub fn stored_render(object: &str) -> String {
    format!("{object}.render")
}

/// The materials of a rest mesh, beside it.
pub fn materials_file(rest_file: &Path) -> PathBuf {
    rest_file.with_extension("mtl")
}

/// An object's name as a file name on every system: it can neither leave its folder nor hide.
pub fn safe_name(object: &str) -> String {
    let forbidden = |c: char| c.is_control() || "/\\:*?\"<>|".contains(c);
    let name: String = object.chars().map(|c| if forbidden(c) { '_' } else { c }).collect();
    match name.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None if name.is_empty() => "_".to_owned(),
        None => name,
    }
}
