//! glTF files made on the spot, so that a test can break one thing in them.

use serde_json::{Value as Json, json};

/// A glTF file in parts.
#[derive(Clone)]
pub struct Sample {
    pub json: Json,
    pub bin: Vec<u8>,
}

pub fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

pub fn shorts(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

pub const FLOAT: u32 = 5126;
pub const BYTE: u32 = 5120;
pub const UNSIGNED_BYTE: u32 = 5121;
pub const SHORT: u32 = 5122;
pub const UNSIGNED_SHORT: u32 = 5123;

impl Sample {
    pub fn new() -> Sample {
        Sample { json: json!({ "asset": { "version": "2.0" } }), bin: Vec::new() }
    }

    /// Adds an entry to a list of the root object; its number.
    pub fn push(&mut self, list: &str, entry: Json) -> usize {
        let list = &mut self.json[list];
        if list.is_null() {
            *list = json!([]);
        }
        let list = list.as_array_mut().unwrap();
        list.push(entry);
        list.len() - 1
    }

    pub fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let view = json!({ "buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len() });
        self.bin.extend(bytes);
        self.push("bufferViews", view)
    }

    pub fn accessor(&mut self, bytes: &[u8], component: u32, kind: &str, count: usize) -> usize {
        let view = self.view(bytes);
        let accessor = json!({ "bufferView": view, "componentType": component, "type": kind, "count": count });
        self.push("accessors", accessor)
    }

    /// Floats of a kind; as many elements as they are enough for.
    pub fn floats(&mut self, values: &[f32], kind: &str) -> usize {
        let width = match kind {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        self.accessor(&floats(values), FLOAT, kind, values.len() / width)
    }

    /// The JSON with its one buffer in place.
    fn finished(&self, uri: Option<&str>) -> Json {
        let mut json = self.json.clone();
        if json["buffers"].is_null() && !self.bin.is_empty() {
            json["buffers"] = json!([{ "byteLength": self.bin.len() }]);
            if let Some(uri) = uri {
                json["buffers"][0]["uri"] = json!(uri);
            }
        }
        json
    }

    pub fn glb(&self) -> Vec<u8> {
        glb(self.finished(None).to_string().as_bytes(), Some(&self.bin))
    }

    /// As text, with a buffer of that address.
    pub fn text(&self, uri: &str) -> Vec<u8> {
        self.finished(Some(uri)).to_string().into_bytes()
    }
}

pub fn chunk(kind: &[u8; 4], content: &[u8], filler: u8) -> Vec<u8> {
    let size = content.len().next_multiple_of(4);
    let mut bytes = (size as u32).to_le_bytes().to_vec();
    bytes.extend(kind);
    bytes.extend(content);
    bytes.resize(8 + size, filler);
    bytes
}

pub fn glb(json: &[u8], bin: Option<&[u8]>) -> Vec<u8> {
    let mut body = chunk(b"JSON", json, b' ');
    body.extend(bin.map(|bin| chunk(b"BIN\0", bin, 0)).unwrap_or_default());
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend((12 + body.len() as u32).to_le_bytes());
    bytes.extend(body);
    bytes
}

/// Six vertices of a strip of cloth in the xy-plane, 2 m high.
pub const STRIP: [f32; 18] = [0., 0., 0., 1., 0., 0., 0., 1., 0., 1., 1., 0., 0., 2., 0., 1., 2., 0.];
pub const STRIP_TRIANGLES: [u16; 12] = [0, 1, 2, 2, 1, 3, 2, 3, 4, 4, 3, 5];

/// A strip on two joints with morph targets, a pin attribute, colours, a material and one clip of everything.
pub fn rigged() -> Sample {
    let mut s = Sample::new();
    let positions = s.floats(&STRIP, "VEC3");
    let normals = s.floats(&[0., 0., 1.].repeat(6), "VEC3");
    let uvs = s.floats(&[0., 0., 1., 0., 0., 0.5, 1., 0.5, 0., 1., 1., 1.], "VEC2");
    let joints = s.accessor(&[0, 1, 0, 0].repeat(6), UNSIGNED_BYTE, "VEC4", 6);
    let weights: Vec<f32> = [1.0, 1.0, 0.5, 0.5, 0.0, 0.0].iter().flat_map(|w| [*w, 1.0 - w, 0.0, 0.0]).collect();
    let weights = s.floats(&weights, "VEC4");
    let pin = s.floats(&[1., 1., 0.5, 0.5, 0., 0.], "SCALAR");
    let color = s.accessor(&[255, 0, 51, 255].repeat(6), UNSIGNED_BYTE, "VEC4", 6);
    s.json["accessors"][color]["normalized"] = json!(true);
    let indices = s.accessor(&shorts(&STRIP_TRIANGLES), UNSIGNED_SHORT, "SCALAR", 12);
    let bulge = s.floats(&[0., 0., 0., 0., 0., 0., 0., 0., 1., 0., 0., 1., 0., 0., 0., 0., 0., 0.], "VEC3");
    let lean = s.floats(&[0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.5, 0., 0., 0.5, 0., 0.], "VEC3");
    let mut binds = IDENTITY.to_vec();
    let mut upper = IDENTITY;
    upper[13] = -1.0;
    binds.extend(upper);
    let binds = s.floats(&binds, "MAT4");
    let times = s.floats(&[0.5, 1.0, 2.0], "SCALAR");
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let turns = s.floats(&[0., 0., 0., 1., 0., 0., half, half, 0., 0., half, half], "VEC4");
    let shifts = s.floats(&[0., 0., 0., 1., 0., 0., 2., 0., 0.], "VEC3");
    let mut spline = Vec::new();
    for value in [1.0_f32, 2.0, 1.0] {
        spline.extend([[0.0; 3], [value; 3], [1.0; 3]].concat());
    }
    let scales = s.floats(&spline, "VEC3");
    let morphs = s.floats(&[0., 0., 1., 0.5, 0., 1.], "SCALAR");
    let attributes = json!({ "POSITION": positions, "NORMAL": normals, "TEXCOORD_0": uvs, "JOINTS_0": joints,
        "WEIGHTS_0": weights, "_PIN": pin, "COLOR_0": color });
    s.push("materials", json!({ "name": "silk", "doubleSided": true, "emissiveFactor": [0.1, 0.2, 0.3],
        "pbrMetallicRoughness": { "baseColorFactor": [1.0, 0.5, 0.25, 0.5], "metallicFactor": 0.0, "roughnessFactor": 0.75 } }));
    s.push(
        "meshes",
        json!({ "name": "strip", "weights": [0.0, 0.25], "primitives": [{ "attributes": attributes, "indices": indices,
            "material": 0, "targets": [{ "POSITION": bulge }, { "POSITION": lean }] }] }),
    );
    s.push("skins", json!({ "name": "skin", "joints": [1, 2], "inverseBindMatrices": binds }));
    s.push("nodes", json!({ "name": "cloth", "mesh": 0, "skin": 0, "translation": [7.0, 7.0, 7.0] }));
    s.push("nodes", json!({ "name": "lower", "children": [2] }));
    s.push("nodes", json!({ "name": "upper", "translation": [0.0, 1.0, 0.0] }));
    s.push("scenes", json!({ "nodes": [0, 1] }));
    s.json["scene"] = json!(0);
    let sampler = |output: usize, interpolation: &str| json!({ "input": times, "output": output, "interpolation": interpolation });
    let channel = |sampler: usize, node: usize, path: &str| json!({ "sampler": sampler, "target": { "node": node, "path": path } });
    s.push(
        "animations",
        json!({ "name": "sway",
            "samplers": [sampler(turns, "LINEAR"), sampler(shifts, "STEP"), sampler(scales, "CUBICSPLINE"), sampler(morphs, "LINEAR")],
            "channels": [channel(0, 2, "rotation"), channel(1, 1, "translation"), channel(2, 2, "scale"), channel(3, 0, "weights")] }),
    );
    s
}

pub const IDENTITY: [f32; 16] = [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.];

/// A still triangle on a node.
pub fn triangle() -> Sample {
    let mut s = Sample::new();
    let positions = s.floats(&STRIP[..9], "VEC3");
    s.push("meshes", json!({ "primitives": [{ "attributes": { "POSITION": positions } }] }));
    s.push("nodes", json!({ "name": "triangle", "mesh": 0 }));
    s.push("scenes", json!({ "nodes": [0] }));
    s
}
