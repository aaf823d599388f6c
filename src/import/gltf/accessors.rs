//! Numbers out of buffers. Every offset, count and type is checked here before a byte is read, and what is reserved is
//! never more than what the file can fill.

use super::buffers::Content;
use super::document::{AccessorText, Document};
use super::fault::{Fault, entry, fault};

/// How numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn new(code: u64) -> Option<Component> {
        Some(match code {
            5120 => Component::I8,
            5121 => Component::U8,
            5122 => Component::I16,
            5123 => Component::U16,
            5125 => Component::U32,
            5126 => Component::F32,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Component::I8 | Component::U8 => 1,
            Component::I16 | Component::U16 => 2,
            Component::U32 | Component::F32 => 4,
        }
    }

    /// What stands for 1 in normalised integers.
    fn one(self) -> f64 {
        match self {
            Component::I8 => 127.0,
            Component::U8 => 255.0,
            Component::I16 => 32767.0,
            Component::U16 => 65535.0,
            Component::U32 => f64::from(u32::MAX),
            Component::F32 => 1.0,
        }
    }

    /// The number at the start of some bytes, of which there are enough.
    fn read(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Component::I8, [a, ..]) => f64::from(*a as i8),
            (Component::U8, [a, ..]) => f64::from(*a),
            (Component::I16, [a, b, ..]) => f64::from(i16::from_le_bytes([*a, *b])),
            (Component::U16, [a, b, ..]) => f64::from(u16::from_le_bytes([*a, *b])),
            (Component::U32, [a, b, c, d, ..]) => f64::from(u32::from_le_bytes([*a, *b, *c, *d])),
            (Component::F32, [a, b, c, d, ..]) => f64::from(f32::from_le_bytes([*a, *b, *c, *d])),
            _ => 0.0,
        }
    }
}

/// The numbers of an accessor, element after element.
#[derive(Clone, Debug)]
pub struct Numbers {
    pub values: Vec<f64>,
    /// Numbers an element.
    pub width: usize,
}

impl Numbers {
    /// How many elements there are.
    pub fn count(&self) -> usize {
        self.values.len() / self.width
    }

    /// The first `N` numbers of an element.
    pub fn element<const N: usize>(&self, element: usize) -> [f64; N] {
        std::array::from_fn(|n| self.values[element * self.width + n])
    }
}

/// What an accessor must be to be used for something.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// `SCALAR`, `VEC3`...
    pub kinds: &'static [&'static str],
    pub components: &'static [Component],
    /// Whether integers stand for fractions although nothing says so.
    pub always_normalized: bool,
}

/// Floats, and the small integers that quantised files have instead.
const FLOATS: &[Component] = &[Component::F32, Component::I8, Component::U8, Component::I16, Component::U16];

pub const VECTORS: Wanted = Wanted { kinds: &["VEC3"], components: FLOATS, always_normalized: false };
pub const TEXTURE_COORDINATES: Wanted = Wanted { kinds: &["VEC2"], components: FLOATS, always_normalized: false };
pub const WEIGHTS: Wanted =
    Wanted { kinds: &["VEC4"], components: &[Component::F32, Component::U8, Component::U16], always_normalized: true };
pub const JOINTS: Wanted =
    Wanted { kinds: &["VEC4"], components: &[Component::U8, Component::U16], always_normalized: false };
pub const INDICES: Wanted = Wanted {
    kinds: &["SCALAR"],
    components: &[Component::U8, Component::U16, Component::U32],
    always_normalized: false,
};
pub const MATRICES: Wanted = Wanted { kinds: &["MAT4"], components: &[Component::F32], always_normalized: false };
pub const TIMES: Wanted = Wanted { kinds: &["SCALAR"], components: &[Component::F32], always_normalized: false };
pub const KEY_VECTORS: Wanted = Wanted { kinds: &["VEC3"], components: FLOATS, always_normalized: false };
pub const KEY_ROTATIONS: Wanted = Wanted { kinds: &["VEC4"], components: FLOATS, always_normalized: true };
pub const KEY_WEIGHTS: Wanted = Wanted { kinds: &["SCALAR"], components: FLOATS, always_normalized: true };
pub const ATTRIBUTE: Wanted = Wanted {
    kinds: &["SCALAR", "VEC2", "VEC3", "VEC4"],
    components: &[Component::F32, Component::I8, Component::U8, Component::I16, Component::U16, Component::U32],
    always_normalized: false,
};

/// The numbers in a file.
pub struct Accessors<'a> {
    pub document: &'a Document,
    pub buffers: &'a [Content],
}

impl<'a> Accessors<'a> {
    fn byte_count(&self) -> u64 {
        self.buffers.iter().map(Content::own_bytes).sum()
    }

    /// How many elements an accessor says it has, if the file could hold so many.
    pub fn count(&self, index: usize, from: &dyn Fn() -> String) -> Result<usize, Fault> {
        let accessor = entry(&self.document.accessors, index, "accessors", from)?;
        let limit = self.byte_count();
        if accessor.count > limit {
            let message = format!("has {} elements, and all buffers together have {limit} bytes", accessor.count);
            return Err(fault(format!("accessors[{index}]"), message));
        }
        Ok(accessor.count as usize)
    }

    /// All numbers of an accessor, finite ones; `from` tells who asks.
    pub fn read(&self, index: usize, wanted: Wanted, from: &dyn Fn() -> String) -> Result<Numbers, Fault> {
        let numbers = self.read_any(index, wanted, from)?;
        match numbers.values.iter().position(|x| !x.is_finite()) {
            None => Ok(numbers),
            Some(at) => {
                let message = format!("element {} is not a finite number", at / numbers.width);
                Err(fault(format!("accessors[{index}]"), message))
            }
        }
    }

    /// All numbers of an accessor, whatever they are.
    pub fn read_any(&self, index: usize, wanted: Wanted, from: &dyn Fn() -> String) -> Result<Numbers, Fault> {
        let count = self.count(index, from)?;
        let accessor = entry(&self.document.accessors, index, "accessors", from)?;
        let at = || format!("accessors[{index}]");
        let component = Component::new(accessor.component_type)
            .ok_or_else(|| fault(at(), format!("componentType {} is not one of glTF's", accessor.component_type)))?;
        if !wanted.kinds.contains(&accessor.kind.as_str()) || !wanted.components.contains(&component) {
            let kind: String = accessor.kind.chars().take(10).flat_map(char::escape_default).collect();
            let code = accessor.component_type;
            let message = format!("{kind} of componentType {code} cannot be used as {}", from());
            return Err(fault(at(), message));
        }
        let width = match accessor.kind.as_str() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        // What lies in no bytes belongs to something that does, with as many numbers of at least a byte each.
        let limit = self.byte_count();
        if accessor.buffer_view.is_none() && (count * width) as u64 > limit {
            let message = format!("has {count} elements in no buffer, and all buffers together have {limit} bytes");
            return Err(fault(at(), message));
        }
        let shape = Shape { component, width, count };
        let mut values = match accessor.buffer_view {
            Some(view) => self.stored(view, accessor.byte_offset, shape, &at)?,
            None => vec![0.0; count * width],
        };
        self.replace_sparse(accessor, shape, &mut values, &at)?;
        if component != Component::F32 && (accessor.normalized || wanted.always_normalized) {
            // The lowest integer stands for -1 like the one after it.
            values.iter_mut().for_each(|x| *x = (*x / component.one()).max(-1.0));
        }
        Ok(Numbers { values, width })
    }

    /// Whole numbers, such as vertex or joint numbers.
    pub fn integers(&self, index: usize, wanted: Wanted, from: &dyn Fn() -> String) -> Result<Vec<u32>, Fault> {
        Ok(self.read_any(index, wanted, from)?.values.into_iter().map(|x| x as u32).collect())
    }

    fn replace_sparse(
        &self,
        accessor: &AccessorText,
        shape: Shape,
        values: &mut [f64],
        at: &dyn Fn() -> String,
    ) -> Result<(), Fault> {
        let Some(sparse) = &accessor.sparse else {
            return Ok(());
        };
        let at_sparse = || format!("{}.sparse", at());
        let component = Component::new(sparse.indices.component_type).filter(|c| INDICES.components.contains(c));
        let component = component.ok_or_else(|| {
            fault(at_sparse(), format!("indices cannot be of componentType {}", sparse.indices.component_type))
        })?;
        let count = usize::try_from(sparse.count).unwrap_or(usize::MAX);
        let indices = self.stored(
            sparse.indices.buffer_view,
            sparse.indices.byte_offset,
            Shape { component, width: 1, count },
            &at_sparse,
        )?;
        let replaced =
            self.stored(sparse.values.buffer_view, sparse.values.byte_offset, Shape { count, ..shape }, &at_sparse)?;
        for (index, new) in indices.into_iter().zip(replaced.chunks_exact(shape.width)) {
            let index = index as usize;
            let Some(old) = values.get_mut(index * shape.width..(index + 1) * shape.width) else {
                return Err(fault(at_sparse(), format!("replaces element {index} of {}", shape.count)));
            };
            old.copy_from_slice(new);
        }
        Ok(())
    }

    /// Numbers that lie in a buffer view, not yet normalised.
    fn stored(&self, view: usize, offset: u64, shape: Shape, at: &dyn Fn() -> String) -> Result<Vec<f64>, Fault> {
        let Shape { component, width, count } = shape;
        let (bytes, stride) = self.view(view, at)?;
        let element = component.size() * width;
        let stride = stride.unwrap_or(element);
        if stride < element {
            let message = format!("byteStride {stride} is less than the {element} bytes of an element");
            return Err(fault(format!("bufferViews[{view}]"), message));
        }
        if count == 0 {
            return Ok(Vec::new());
        }
        let end = (count - 1).checked_mul(stride).and_then(|start| start.checked_add(element)).and_then(|length| {
            let offset = usize::try_from(offset).ok()?;
            offset.checked_add(length)
        });
        let Some(content) = end.and_then(|end| bytes.get(offset as usize..end)) else {
            let message = format!(
                "{count} elements of {element} bytes from byte {offset} on do not fit into the {} bytes of \
                 bufferViews[{view}]",
                bytes.len()
            );
            return Err(fault(at(), message));
        };
        let mut values = Vec::with_capacity(count * width);
        for element_bytes in content.chunks(stride) {
            values.extend((0..width).map(|n| component.read(&element_bytes[n * component.size()..])));
        }
        Ok(values)
    }

    /// The bytes of a buffer view, and how far apart its elements are.
    fn view(&self, index: usize, from: &dyn Fn() -> String) -> Result<(&'a [u8], Option<usize>), Fault> {
        let view = entry(&self.document.buffer_views, index, "bufferViews", from)?;
        let at = || format!("bufferViews[{index}]");
        let buffer = entry(self.buffers, view.buffer, "buffers", at)?;
        let range = usize::try_from(view.byte_offset).ok().and_then(|start| {
            let end = start.checked_add(usize::try_from(view.byte_length).ok()?)?;
            Some(start..end)
        });
        let bytes = range.and_then(|range| buffer.get(range)).ok_or_else(|| {
            let (start, length) = (view.byte_offset, view.byte_length);
            let message = format!(
                "{length} bytes from byte {start} on do not fit into the {} bytes of buffers[{}]",
                buffer.len(),
                view.buffer
            );
            fault(at(), message)
        })?;
        let stride = view.byte_stride.map(|stride| usize::try_from(stride).unwrap_or(usize::MAX));
        Ok((bytes, stride.filter(|stride| *stride > 0)))
    }
}

/// How numbers lie in a buffer view.
#[derive(Clone, Copy)]
struct Shape {
    component: Component,
    width: usize,
    count: usize,
}
