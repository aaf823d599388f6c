//! The native store: every frame of a bake with its velocities, appended as it is simulated.
//!
//! All numbers are little endian, coordinates are metres with Y up, in the world.
//!
//! ```text
//! header   magic "KILNBAKE" | u32 version | u32 header length (all of it, with its checksum)
//!          | u32 fps numerator | u32 fps denominator | u32 object count
//!          | per object: u32 name length, name (UTF-8), u64 vertex count
//!          | u64 xxh3_64 of everything above
//! frame    magic "KILNFRAM" | u64 xxh3_64 of the rest of the frame | i64 frame number
//!          | per object: positions (3 × f32 each), then velocities (3 × f32 each)
//! frame    ...
//! end      magic "KILNDONE" | u64 frame count | u64 xxh3_64 of the 16 bytes above
//! ```
//!
//! Version 2 is the same without velocities: that of colliders, which are only looked at.
//!
//! All frames have the same size, so frame `i` is found by arithmetic. The end record is written last: a finished
//! store that lost its tail is noticed even if it was cut between two frames. A store that was interrupted keeps the
//! name `bake.kc.partial` and has no end record; its whole frames can be read.

use std::fs::File;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::atomic::{AtomicFile, WrittenFile};
use super::bytes::{self, Fields, first_not_finite, get_points, put_points};
use super::error::{CacheError, Result};
use super::names::{
    self, STORE_END_MAGIC, STORE_FRAME_MAGIC, STORE_MAGIC, STORE_VERSION, STORE_VERSION_WITH_VELOCITIES,
};
use crate::scene::FrameRate;

/// Magic, checksum and frame number.
const FRAME_HEAD: usize = 24;
const END_RECORD: usize = 24;
/// Magic, version and header length.
const HEADER_HEAD: usize = 16;
/// A position or a velocity.
const POINT_BYTES: u64 = 12;

/// An object of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreObject {
    /// As in the scene.
    pub name: String,
    /// The same in every frame.
    pub vertex_count: usize,
}

/// What is true of all frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreHeader {
    /// Frames per second.
    pub fps: FrameRate,
    /// In the order in which they stand in a frame.
    pub objects: Vec<StoreObject>,
    /// Whether frames have velocities besides positions.
    pub has_velocities: bool,
}

impl StoreHeader {
    fn vertex_bytes(&self) -> u64 {
        if self.has_velocities { 2 * POINT_BYTES } else { POINT_BYTES }
    }

    fn version(&self) -> u32 {
        if self.has_velocities { STORE_VERSION_WITH_VELOCITIES } else { STORE_VERSION }
    }

    /// Size of a frame on disk; `None` if no file could hold it or there is nothing to hold.
    fn frame_size(&self) -> Option<u64> {
        let mut vertex_count = 0_u64;
        for object in &self.objects {
            // Corners of polygons are u32, so no mesh has more vertices.
            vertex_count += u64::from(u32::try_from(object.vertex_count).ok()?);
        }
        (vertex_count > 0).then(|| FRAME_HEAD as u64 + self.vertex_bytes() * vertex_count)
    }

    fn checked_frame_size(&self, file: &Path) -> Result<u64> {
        if self.fps.numerator == 0 || self.fps.denominator == 0 {
            return Err(CacheError::invalid(file, "the frame rate is zero"));
        }
        self.frame_size().ok_or_else(|| CacheError::invalid(file, "the vertex counts of the objects are not possible"))
    }

    fn encode(&self, file: &Path) -> Result<Vec<u8>> {
        let too_long = || CacheError::invalid(file, "the names of the objects are too long");
        let mut buffer = Vec::new();
        buffer.extend_from_slice(&STORE_MAGIC);
        buffer.extend_from_slice(&self.version().to_le_bytes());
        buffer.extend_from_slice(&[0; 4]); // the length, below
        buffer.extend_from_slice(&self.fps.numerator.to_le_bytes());
        buffer.extend_from_slice(&self.fps.denominator.to_le_bytes());
        let object_count = u32::try_from(self.objects.len()).map_err(|_| too_long())?;
        buffer.extend_from_slice(&object_count.to_le_bytes());
        for object in &self.objects {
            let name_length = u32::try_from(object.name.len()).map_err(|_| too_long())?;
            buffer.extend_from_slice(&name_length.to_le_bytes());
            buffer.extend_from_slice(object.name.as_bytes());
            buffer.extend_from_slice(&(object.vertex_count as u64).to_le_bytes());
        }
        let length = u32::try_from(buffer.len() + 8).map_err(|_| too_long())?;
        buffer[12..16].copy_from_slice(&length.to_le_bytes());
        let checksum = xxh3_64(&buffer);
        buffer.extend_from_slice(&checksum.to_le_bytes());
        Ok(buffer)
    }

    /// From what stands between the header length and the checksum.
    fn decode(mut fields: Fields, has_velocities: bool) -> Option<StoreHeader> {
        let numerator = fields.array().map(u32::from_le_bytes)?;
        let denominator = fields.array().map(u32::from_le_bytes)?;
        let object_count = fields.array().map(u32::from_le_bytes)?;
        let mut objects = Vec::new(); // grows with the bytes that are there, whatever the count says
        for _ in 0..object_count {
            let name_length = fields.array().map(u32::from_le_bytes)?;
            let name = str::from_utf8(fields.slice(name_length as usize)?).ok()?.to_owned();
            let vertex_count = usize::try_from(fields.array().map(u64::from_le_bytes)?).ok()?;
            objects.push(StoreObject { name, vertex_count });
        }
        let fps = FrameRate { numerator, denominator };
        fields.0.is_empty().then_some(StoreHeader { fps, objects, has_velocities })
    }
}

/// An object in a frame that is to be stored.
#[derive(Clone, Copy, Debug)]
pub struct ObjectFrame<'a> {
    /// [m]
    pub positions: &'a [[f32; 3]],
    /// [m/s]; none in a store without them.
    pub velocities: &'a [[f32; 3]],
}

/// Appends frames to a store. Dropped before `finish`, it leaves `bake.kc.partial` with its whole frames.
pub struct StoreWriter {
    file: AtomicFile,
    header: StoreHeader,
    buffer: Vec<u8>,
    frame_count: u64,
    last_frame: Option<i64>,
}

impl StoreWriter {
    /// Starts `<path>.partial`; `path` itself appears with `finish`.
    pub fn create(path: &Path, header: &StoreHeader) -> Result<Self> {
        header.checked_frame_size(path)?;
        let encoded = header.encode(path)?;
        let mut file = AtomicFile::create(path)?.keep_partial();
        file.put(&encoded)?;
        file.flush()?;
        Ok(StoreWriter { file, header: header.clone(), buffer: Vec::new(), frame_count: 0, last_frame: None })
    }

    /// Stores a frame and hands it to the system. Frame numbers ascend; objects stand in the order of the header.
    pub fn append(&mut self, frame: i64, objects: &[ObjectFrame]) -> Result<()> {
        self.check(frame, objects)?;
        self.buffer.clear();
        self.buffer.extend_from_slice(&STORE_FRAME_MAGIC);
        self.buffer.extend_from_slice(&[0; 8]); // the checksum, below
        self.buffer.extend_from_slice(&frame.to_le_bytes());
        for object in objects {
            put_points(&mut self.buffer, object.positions, f32::to_le_bytes);
            put_points(&mut self.buffer, object.velocities, f32::to_le_bytes);
        }
        let checksum = xxh3_64(&self.buffer[16..]);
        self.buffer[8..16].copy_from_slice(&checksum.to_le_bytes());
        self.file.put(&self.buffer)?;
        self.file.flush()?;
        self.frame_count += 1;
        self.last_frame = Some(frame);
        Ok(())
    }

    fn check(&self, frame: i64, objects: &[ObjectFrame]) -> Result<()> {
        let path = self.file.path();
        if let Some(last) = self.last_frame.filter(|&last| last >= frame) {
            return Err(CacheError::invalid(path, format!("frame {frame} cannot follow frame {last}")));
        }
        if objects.len() != self.header.objects.len() {
            let (given, expected) = (objects.len(), self.header.objects.len());
            return Err(CacheError::invalid(path, format!("frame {frame} has {given} objects instead of {expected}")));
        }
        for (known, object) in self.header.objects.iter().zip(objects) {
            let moving = if self.header.has_velocities { known.vertex_count } else { 0 };
            let parts = [("position", object.positions, known.vertex_count), ("velocity", object.velocities, moving)];
            for (quantity, values, expected) in parts {
                if values.len() != expected {
                    let message = format!(
                        "frame {frame}: \"{}\" has {} vertices ({quantity}) instead of {}",
                        known.name,
                        values.len(),
                        expected
                    );
                    return Err(CacheError::invalid(path, message));
                }
                if let Some(vertex) = first_not_finite(values) {
                    let (file, object) = (path.to_owned(), known.name.clone());
                    return Err(CacheError::NotFinite { file, frame, object, vertex, quantity });
                }
            }
        }
        Ok(())
    }

    /// Writes the end record and gives the store its final name.
    pub fn finish(mut self) -> Result<WrittenFile> {
        self.file.put(&end_record(self.frame_count))?;
        self.file.commit()
    }
}

fn end_record(frame_count: u64) -> [u8; END_RECORD] {
    let mut record = [0; END_RECORD];
    record[..8].copy_from_slice(&STORE_END_MAGIC);
    record[8..16].copy_from_slice(&frame_count.to_le_bytes());
    let checksum = xxh3_64(&record[..16]);
    record[16..].copy_from_slice(&checksum.to_le_bytes());
    record
}

/// An object in a frame that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredObject {
    /// [m]
    pub positions: Vec<[f32; 3]>,
    /// [m/s]; none from a store without them.
    pub velocities: Vec<[f32; 3]>,
}

/// A frame that was read; used again for the next one, it allocates nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredFrame {
    /// Its number.
    pub frame: i64,
    /// In the order of the header.
    pub objects: Vec<StoredObject>,
}

/// Reads a store, finished or partial.
#[derive(Debug)]
pub struct StoreReader {
    path: PathBuf,
    file: File,
    header: StoreHeader,
    header_size: u64,
    frame_size: u64,
    frames: Vec<i64>,
    buffer: Vec<u8>,
}

impl StoreReader {
    /// Checks the header and finds the frames. Their checksums are checked as they are read.
    pub fn open(path: &Path) -> Result<Self> {
        let (mut file, length) = bytes::open(path)?;
        let (header, header_size) = read_header(&mut file, path, length)?;
        let frame_size = header.checked_frame_size(path)?;
        let body = length - header_size;
        let frame_count = if names::is_partial(path) {
            body / frame_size // the rest is a frame that was cut off
        } else {
            finished_frame_count(&mut file, path, length, body, frame_size)?
        };
        let buffer = Vec::new();
        let mut reader =
            StoreReader { path: path.to_owned(), file, header, header_size, frame_size, frames: Vec::new(), buffer };
        for index in 0..frame_count {
            let frame = reader.frame_number(index)?;
            if reader.frames.last().is_some_and(|&last| last >= frame) {
                let message = format!("frame numbers do not ascend at frame {frame} (byte {})", reader.offset(index));
                return Err(CacheError::invalid(path, message));
            }
            reader.frames.push(frame);
        }
        Ok(reader)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is true of all frames.
    pub fn header(&self) -> &StoreHeader {
        &self.header
    }

    /// The stored frame numbers, ascending.
    pub fn frames(&self) -> &[i64] {
        &self.frames
    }

    /// Reads a frame by its place in `frames` and checks its checksum.
    pub fn read(&mut self, index: usize, frame: &mut StoredFrame) -> Result<()> {
        if index >= self.frames.len() {
            let message = format!("there is no frame at place {index}; {} are stored", self.frames.len());
            return Err(CacheError::invalid(&self.path, message));
        }
        let offset = self.offset(index as u64);
        self.buffer.resize(self.frame_size as usize, 0); // fits: at least one whole frame is in the file
        bytes::read_at(&mut self.file, &self.path, offset, &mut self.buffer)?;
        let (head, checked) = self.buffer.split_at(16);
        let (number, mut payload) = checked.split_at(8);
        if head[..8] != STORE_FRAME_MAGIC
            || head[8..] != xxh3_64(checked).to_le_bytes()
            || number != self.frames[index].to_le_bytes()
        {
            return Err(CacheError::Damaged { file: self.path.clone(), frame: self.frames[index], offset });
        }
        frame.frame = self.frames[index];
        frame.objects.resize_with(self.header.objects.len(), StoredObject::default);
        for (known, object) in self.header.objects.iter().zip(&mut frame.objects) {
            let quantities = if self.header.has_velocities { 2 } else { 1 };
            for values in [&mut object.positions, &mut object.velocities].into_iter().take(quantities) {
                let (mine, rest) = payload.split_at(POINT_BYTES as usize * known.vertex_count);
                get_points(mine, values, f32::from_le_bytes);
                payload = rest;
            }
        }
        Ok(())
    }

    fn offset(&self, index: u64) -> u64 {
        self.header_size + index * self.frame_size
    }

    fn frame_number(&mut self, index: u64) -> Result<i64> {
        let offset = self.offset(index);
        let mut head = [0; FRAME_HEAD];
        bytes::read_at(&mut self.file, &self.path, offset, &mut head)?;
        if head[..8] != STORE_FRAME_MAGIC {
            return Err(CacheError::invalid(
                &self.path,
                format!("no frame starts at byte {offset}: the file is damaged"),
            ));
        }
        let mut number = Fields(&head[16..]);
        Ok(number.array().map_or(0, i64::from_le_bytes))
    }
}

fn read_header(file: &mut File, path: &Path, length: u64) -> Result<(StoreHeader, u64)> {
    let invalid = |message: &str| CacheError::invalid(path, message);
    if length < HEADER_HEAD as u64 {
        return Err(invalid("the file is too short to be a Kiln store"));
    }
    let mut head = [0; HEADER_HEAD];
    bytes::read_at(file, path, 0, &mut head)?;
    let mut fields = Fields(&head);
    let magic = fields.array::<8>();
    let version = fields.array().map_or(0, u32::from_le_bytes);
    let header_size = fields.array().map_or(0, u32::from_le_bytes);
    if magic != Some(STORE_MAGIC) {
        return Err(invalid("this is not a Kiln store"));
    }
    if version > STORE_VERSION {
        return Err(CacheError::NewerVersion { file: path.to_owned(), found: version, supported: STORE_VERSION });
    }
    if version < STORE_VERSION_WITH_VELOCITIES {
        return Err(invalid("the store's version number is not possible"));
    }
    if u64::from(header_size) > length || (header_size as usize) < HEADER_HEAD + 8 {
        return Err(invalid("the file ends inside its header"));
    }
    let mut header = vec![0; header_size as usize];
    bytes::read_at(file, path, 0, &mut header)?;
    let (checked, checksum) = header.split_at(header.len() - 8);
    if checksum != xxh3_64(checked).to_le_bytes() {
        return Err(invalid("the header is damaged: its checksum does not match"));
    }
    let header = StoreHeader::decode(Fields(&checked[HEADER_HEAD..]), version == STORE_VERSION_WITH_VELOCITIES)
        .ok_or_else(|| invalid("the header makes no sense"))?;
    Ok((header, u64::from(header_size)))
}

fn finished_frame_count(file: &mut File, path: &Path, length: u64, body: u64, frame_size: u64) -> Result<u64> {
    let cut_off = || CacheError::invalid(path, "the store is incomplete: it does not end with its end record");
    let frames = body.checked_sub(END_RECORD as u64).ok_or_else(cut_off)?;
    let mut record = [0; END_RECORD];
    bytes::read_at(file, path, length - END_RECORD as u64, &mut record)?;
    let frame_count = frames / frame_size;
    if frames % frame_size != 0 || record != end_record(frame_count) {
        return Err(cut_off());
    }
    Ok(frame_count)
}
