//! The JSON of a glTF file as it stands there, and the two ways it is packed. Nothing in here is checked against
//! anything else.
//!
//! Only what a bake needs is named; cameras, images, textures and samplers are never looked at, so a file cannot fail
//! by them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::fault::{Fault, fault};

/// The root object.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Document {
    pub asset: AssetText,
    pub scene: Option<usize>,
    pub scenes: Vec<SceneText>,
    pub nodes: Vec<NodeText>,
    pub meshes: Vec<MeshText>,
    pub skins: Vec<SkinText>,
    pub animations: Vec<AnimationText>,
    pub materials: Vec<MaterialText>,
    pub accessors: Vec<AccessorText>,
    pub buffer_views: Vec<BufferViewText>,
    pub buffers: Vec<BufferText>,
    pub extensions_used: Vec<String>,
    pub extensions_required: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AssetText {
    pub version: String,
    pub generator: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct SceneText {
    pub nodes: Vec<usize>,
    pub extras: Option<serde_json::Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct NodeText {
    pub name: Option<String>,
    pub children: Vec<usize>,
    pub mesh: Option<usize>,
    pub skin: Option<usize>,
    pub camera: Option<IgnoredAny>,
    pub matrix: Option<[f64; 16]>,
    pub translation: Option<[f64; 3]>,
    pub rotation: Option<[f64; 4]>,
    pub scale: Option<[f64; 3]>,
    pub weights: Option<Vec<f64>>,
}

#[derive(Debug, Deserialize)]
pub struct MeshText {
    pub primitives: Vec<PrimitiveText>,
    pub weights: Option<Vec<f64>>,
    pub extras: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
pub struct PrimitiveText {
    pub attributes: BTreeMap<String, usize>,
    pub indices: Option<usize>,
    pub material: Option<usize>,
    pub mode: Option<u64>,
    #[serde(default)]
    pub targets: Vec<BTreeMap<String, usize>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkinText {
    pub name: Option<String>,
    pub joints: Vec<usize>,
    pub inverse_bind_matrices: Option<usize>,
}

#[derive(Debug, Deserialize)]
pub struct AnimationText {
    pub name: Option<String>,
    pub channels: Vec<ChannelText>,
    pub samplers: Vec<SamplerText>,
}

#[derive(Debug, Deserialize)]
pub struct ChannelText {
    pub sampler: usize,
    pub target: TargetText,
}

#[derive(Debug, Deserialize)]
pub struct TargetText {
    /// Left out where an extension says what moves.
    pub node: Option<usize>,
    pub path: String,
}

#[derive(Debug, Deserialize)]
pub struct SamplerText {
    pub input: usize,
    pub output: usize,
    pub interpolation: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MaterialText {
    pub name: Option<String>,
    pub pbr_metallic_roughness: PbrText,
    pub emissive_factor: [f64; 3],
    pub alpha_mode: Option<String>,
    pub double_sided: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PbrText {
    pub base_color_factor: [f64; 4],
    pub metallic_factor: f64,
    pub roughness_factor: f64,
    pub metallic_roughness_texture: Option<IgnoredAny>,
}

impl Default for PbrText {
    fn default() -> Self {
        PbrText {
            base_color_factor: [1.0; 4],
            metallic_factor: 1.0,
            roughness_factor: 1.0,
            metallic_roughness_texture: None,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccessorText {
    pub buffer_view: Option<usize>,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u64,
    #[serde(default)]
    pub normalized: bool,
    pub count: u64,
    #[serde(rename = "type")]
    pub kind: String,
    pub sparse: Option<SparseText>,
}

#[derive(Debug, Deserialize)]
pub struct SparseText {
    pub count: u64,
    pub indices: SparseIndicesText,
    pub values: SparseValuesText,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SparseIndicesText {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SparseValuesText {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BufferViewText {
    pub buffer: usize,
    #[serde(default)]
    pub byte_offset: u64,
    pub byte_length: u64,
    pub byte_stride: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BufferText {
    pub uri: Option<String>,
    pub byte_length: u64,
}

const CUT_SHORT: &str = "the file is cut short or damaged: export or copy it again";

/// The JSON and, in a GLB file, the bytes behind it. What the file is, its first bytes say, not its name.
pub fn unpack(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), Fault> {
    if bytes.is_empty() {
        return Err(fault("", "the file is empty").help(CUT_SHORT));
    }
    if !bytes.starts_with(b"glTF") {
        return Ok((bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes), None));
    }
    let number = |at: usize| -> Option<u32> { Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?)) };
    let (Some(version), Some(length)) = (number(4), number(8)) else {
        return Err(fault("header", "the file ends inside its header").help(CUT_SHORT));
    };
    if version != 2 {
        let help = "export it as glTF 2.0";
        return Err(fault("header", format!("this is glTF {version}, and only version 2 can be read")).help(help));
    }
    if (length as usize) > bytes.len() {
        let message = format!("the file should have {length} bytes and has {}", bytes.len());
        return Err(fault("header", message).help(CUT_SHORT));
    }
    let mut chunks = Vec::new();
    let mut at = 12;
    // Chunks of unknown kinds are allowed and skipped.
    while let (Some(size), Some(kind)) = (number(at), bytes.get(at + 4..at + 8)) {
        let Some(content) = bytes.get(at + 8..).and_then(|rest| rest.get(..size as usize)) else {
            let message = format!("has {size} bytes by its header, which is more than the file has left");
            return Err(fault(format!("chunk {}", chunks.len()), message).help(CUT_SHORT));
        };
        chunks.push((kind, content));
        at += 8 + (size as usize).next_multiple_of(4);
    }
    match chunks.first() {
        Some((b"JSON", json)) => {
            // Some exporters fill up with zeros instead of spaces.
            let end = json.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            Ok((&json[..end], chunks.get(1).filter(|(kind, _)| *kind == b"BIN\0").map(|(_, content)| *content)))
        }
        Some(_) => Err(fault("chunk 0", "is not JSON").help(CUT_SHORT)),
        None => Err(fault("chunk 0", "is missing").help(CUT_SHORT)),
    }
}

impl Document {
    /// Reads the JSON; extensions that change what a bake sees are refused by name.
    pub fn parse(json: &[u8]) -> Result<Document, Fault> {
        let document: Document = serde_json::from_slice(json).map_err(|error| {
            let place = format!("line {} column {}", error.line(), error.column());
            let text = error.to_string();
            let message = text.split(" at line ").next().unwrap_or_default().to_owned();
            fault(place, message).help("is this a glTF file? Export the mesh again")
        })?;
        match document.asset.version.split('.').next() {
            Some("2") => {}
            Some("") | None => {
                let help = "is this a glTF file? Export the mesh again";
                return Err(fault("asset.version", "is missing").help(help));
            }
            _ => {
                let shown: String = document.asset.version.chars().take(20).flat_map(char::escape_default).collect();
                let message = format!("this is glTF {shown}, and only version 2 can be read");
                return Err(fault("asset.version", message).help("export it as glTF 2.0"));
            }
        }
        if let Some(name) = document.extensions_required.iter().find(|name| !is_harmless(name)) {
            let shown: String = name.chars().take(60).flat_map(char::escape_default).collect();
            let help = match name.as_str() {
                "KHR_draco_mesh_compression" | "EXT_meshopt_compression" | "KHR_meshopt_compression" => {
                    "export it again without compression"
                }
                _ => "export it again without this extension",
            };
            let message = format!("the file cannot be read without `{shown}`, which Kiln does not know");
            return Err(fault("extensionsRequired", message).help(help));
        }
        Ok(document)
    }
}

/// Extensions that change nothing of shape and motion, or that are read here.
fn is_harmless(extension: &str) -> bool {
    const KNOWN: [&str; 13] = [
        "KHR_mesh_quantization",
        "KHR_texture_transform",
        "KHR_texture_basisu",
        "KHR_lights_punctual",
        "KHR_xmp",
        "KHR_xmp_json_ld",
        "EXT_texture_webp",
        "EXT_texture_avif",
        "EXT_lights_image_based",
        "EXT_lights_ies",
        "MSFT_texture_dds",
        "MSFT_packing_occlusionRoughnessMetallic",
        "MSFT_packing_normalRoughnessMetallic",
    ];
    extension.starts_with("KHR_materials_") || KNOWN.contains(&extension)
}
