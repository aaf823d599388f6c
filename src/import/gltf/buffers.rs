//! The bytes behind a glTF file: in the file itself, in `data:` addresses, or in files beside it.

use std::collections::HashMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::document::BufferText;
use super::fault::{Fault, fault};

/// A file that the glTF names.
#[derive(Clone, Debug)]
pub struct ExternalFile {
    /// As written in the glTF.
    pub uri: String,
    /// Its size.
    pub bytes: u64,
    /// XXH3-128 of its content, in hexadecimal.
    pub xxh3: String,
}

/// The bytes of a buffer. Buffers that name the same file share them.
#[derive(Debug)]
pub struct Content {
    bytes: Arc<Vec<u8>>,
    length: usize,
    /// Whether a buffer before it has the same bytes.
    is_shared: bool,
}

impl Content {
    /// How many bytes there are that no buffer before it has.
    pub fn own_bytes(&self) -> u64 {
        if self.is_shared { 0 } else { self.bytes.len() as u64 }
    }
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// All buffers, and the files they came from; `binary` is what a GLB file holds itself.
pub fn load(
    buffers: &[BufferText],
    binary: Option<&[u8]>,
    path: &Path,
) -> Result<(Vec<Content>, Vec<ExternalFile>), Fault> {
    let mut contents = Vec::new();
    let mut files: Vec<ExternalFile> = Vec::new();
    let mut known: HashMap<&str, Arc<Vec<u8>>> = HashMap::new();
    for (n, buffer) in buffers.iter().enumerate() {
        let at = format!("buffers[{n}]");
        let shared = buffer.uri.as_deref().and_then(|uri| known.get(uri)).cloned();
        let is_shared = shared.is_some();
        let bytes = match (&buffer.uri, binary) {
            (None, Some(binary)) if n == 0 => Arc::new(binary.to_vec()),
            (None, _) => {
                let help = "export the file as .glb, or with its .bin beside it";
                return Err(fault(at, "has no data: it names no file").help(help));
            }
            (Some(uri), _) if uri.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("data:")) => {
                Arc::new(from_data(uri).map_err(|message| fault(&at, message))?)
            }
            (Some(uri), _) => match shared {
                Some(bytes) => bytes,
                None => {
                    let file = beside(path, uri);
                    let content = read_file(&file).map_err(|error| {
                        let message = format!("cannot read `{}`: {error}", file.display());
                        fault(&at, message)
                            .help("put the file beside the glTF, or export as .glb, which holds everything")
                    })?;
                    let xxh3 = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&content));
                    files.push(ExternalFile { uri: uri.clone(), bytes: content.len() as u64, xxh3 });
                    let bytes = Arc::new(content);
                    known.insert(uri, bytes.clone());
                    bytes
                }
            },
        };
        if (bytes.len() as u64) < buffer.byte_length {
            let message = format!("should have {} bytes and has {}", buffer.byte_length, bytes.len());
            return Err(fault(at, message).help("the file is cut short or damaged: export or copy it again"));
        }
        contents.push(Content { bytes, length: buffer.byte_length as usize, is_shared });
    }
    Ok((contents, files))
}

/// Where a file is that a glTF names.
fn beside(path: &Path, uri: &str) -> PathBuf {
    let name = uri.strip_prefix("file://").unwrap_or(uri);
    let folder = path.parent().unwrap_or(Path::new(""));
    // Some exporters forget the encoding, and a name may look like a code.
    let literal = folder.join(name);
    if literal.exists() { literal } else { folder.join(percent_decoded(name)) }
}

/// Devices and pipes may never end.
fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is not a file"));
    }
    std::fs::read(path)
}

/// `%20` is a space; what is no such code stays as it is.
fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let code = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match code.filter(|code| !code.starts_with('+')).and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(code) => {
                decoded.push(code);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// The bytes in a `data:...;base64,...` address.
fn from_data(uri: &str) -> Result<Vec<u8>, String> {
    let (head, body) = uri.split_once(',').ok_or("its data: address has no comma")?;
    if !head.to_ascii_lowercase().ends_with(";base64") {
        return Err("its data: address is not in base64".to_owned());
    }
    from_base64(body.as_bytes())
}

/// Six bits a letter; padding may be missing, and must end the text.
fn from_base64(text: &[u8]) -> Result<Vec<u8>, String> {
    let end = text.iter().rposition(|&letter| letter != b'=').map_or(0, |last| last + 1);
    if text.len() - end > 2 || end % 4 == 1 {
        return Err("its base64 data is cut short".to_owned());
    }
    let mut bytes = Vec::with_capacity(end / 4 * 3 + 2);
    let (mut bits, mut count) = (0_u32, 0);
    for (at, &letter) in text[..end].iter().enumerate() {
        let six = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return Err(format!("letter {at} of its data is not base64")),
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Ok(bytes)
}
