//! A server for one page on this machine: HTTP/1.1 on the loopback interface, GET and HEAD, byte ranges.
//!
//! It knows a handful of addresses and no files: whatever else is asked for is not there, so nothing outside of the bakes can be reached. Only
//! requests that name this machine are answered, so no page from elsewhere gets at it under a name of its own.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;

use super::content::{Bake, Stream};
use super::page;
use crate::bake::{Exit, Failure};

/// Longest head of a request [bytes].
const LONGEST_HEAD: u64 = 16_384;
/// How long a connection may be silent.
const PATIENCE: Duration = Duration::from_secs(60);
/// What is waited when no connection can be had.
const BREATH: Duration = Duration::from_millis(50);
/// The port that browsers do not name.
const HTTP: u16 = 80;

/// What is served.
struct Content {
    page: String,
    bakes: Vec<Mutex<Bake>>,
    port: u16,
}

/// A server that was started.
pub struct Server {
    listener: TcpListener,
    /// Where it can be reached.
    pub address: SocketAddr,
}

/// What a request asks for.
struct Request {
    is_head: bool,
    path: String,
    host: String,
    range: Option<String>,
    is_last: bool,
}

/// An answer whose body is there.
struct Answer {
    status: &'static str,
    kind: &'static str,
    body: Vec<u8>,
}

impl Answer {
    fn text(status: &'static str, text: &str) -> Self {
        Answer { status, kind: "text/plain; charset=utf-8", body: text.as_bytes().to_vec() }
    }

    fn failed(failure: &Failure) -> Self {
        Answer::text("500 Internal Server Error", &format!("{}; {}", failure.cause, failure.remedy))
    }
}

impl Server {
    /// On a port of the loopback interface; 0 is any that is free.
    pub fn start(port: u16) -> Result<Self, Failure> {
        let refused = |error: io::Error| {
            let cause = format!("cannot listen on 127.0.0.1:{port}: {error}");
            Failure::new(Exit::InputOutput, cause, "choose another --port, or leave it out for any that is free")
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Server { listener, address })
    }

    /// Serve some bakes until the process ends.
    pub fn run(self, bakes: Vec<Bake>) -> Result<(), Failure> {
        let bakes = bakes.into_iter().map(Mutex::new).collect();
        let content = Arc::new(Content { page: page(""), bakes, port: self.address.port() });
        for connection in self.listener.incoming() {
            // One that was closed at once is no reason to end.
            let Ok(connection) = connection else {
                std::thread::sleep(BREATH); // too many files may be open, which stays so for a while
                continue;
            };
            let content = Arc::clone(&content);
            // Where there are too many threads already, the connection ends and may be tried again.
            drop(std::thread::Builder::new().spawn(move || drop(converse(connection, &content))));
        }
        Ok(())
    }
}

/// Answer the requests of a connection.
fn converse(connection: TcpStream, content: &Content) -> io::Result<()> {
    connection.set_read_timeout(Some(PATIENCE))?;
    connection.set_write_timeout(Some(PATIENCE))?;
    connection.set_nodelay(true)?;
    let mut reader = BufReader::new(connection.try_clone()?);
    let mut writer = connection;
    loop {
        let request = match Request::read(&mut reader)? {
            None => return Ok(()),
            Some(Err(why)) => {
                return Answer::text("400 Bad Request", why).send(&mut writer, false);
            }
            Some(Ok(request)) => request,
        };
        content.answer(&request, &mut writer)?;
        if request.is_last {
            return Ok(());
        }
    }
}

impl Request {
    /// The next one of a connection; none at its end.
    fn read(reader: &mut BufReader<TcpStream>) -> io::Result<Option<Result<Self, &'static str>>> {
        let mut head = reader.take(LONGEST_HEAD);
        let mut line = |line: &mut String| -> io::Result<bool> {
            line.clear();
            let mut bytes = Vec::new();
            head.read_until(b'\n', &mut bytes)?;
            let is_whole = bytes.ends_with(b"\n");
            line.push_str(String::from_utf8_lossy(&bytes).trim_end());
            Ok(is_whole)
        };
        let mut text = String::new();
        if !line(&mut text)? {
            return Ok(if text.is_empty() { None } else { Some(Err("the request line is cut off or too long")) });
        }
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let [method, target, version] = words.as_slice() else {
            return Ok(Some(Err("this is not HTTP")));
        };
        let is_head = match method.as_str() {
            "GET" => false,
            "HEAD" => true,
            _ => return Ok(Some(Err("only GET and HEAD are answered"))),
        };
        let path = target.split('?').next().unwrap_or_default().to_owned();
        let mut request = Request { is_head, path, host: String::new(), range: None, is_last: version != "HTTP/1.1" };
        loop {
            if !line(&mut text)? {
                return Ok(Some(Err("the head of the request is cut off or too long")));
            }
            if text.is_empty() {
                return Ok(Some(Ok(request)));
            }
            let Some((name, value)) = text.split_once(':') else { continue };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "host" => request.host = value.to_ascii_lowercase(),
                "range" => request.range = Some(value.to_owned()),
                "connection" => request.is_last |= value.eq_ignore_ascii_case("close"),
                "content-length" if value != "0" => return Ok(Some(Err("requests have no bodies here"))),
                "transfer-encoding" => return Ok(Some(Err("requests have no bodies here"))),
                _ => {}
            }
        }
    }
}

impl Content {
    fn bake(&self, number: usize) -> MutexGuard<'_, Bake> {
        // What a panic elsewhere has left is read anew.
        self.bakes[number].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, request: &Request, writer: &mut TcpStream) -> io::Result<()> {
        if !names_us(&request.host, self.port) {
            return Answer::text("403 Forbidden", "this server answers only to its own machine")
                .send(writer, request.is_head);
        }
        let parts: Vec<&str> = request.path.split('/').collect();
        let number = |text: &str| text.parse().ok().filter(|number| *number < self.bakes.len() && text.len() == 1);
        let answer = match parts.as_slice() {
            ["", ""] => {
                Answer { status: "200 OK", kind: "text/html; charset=utf-8", body: self.page.clone().into_bytes() }
            }
            ["", "scene.json"] => self.scene(),
            ["", "bake", bake, file] if number(bake).is_some() => {
                let number = number(bake).unwrap_or_default();
                let stream = match *file {
                    "frames.bin" => Some(Stream::Frames),
                    "contact.bin" => Some(Stream::Contact),
                    _ => None,
                };
                if let Some(stream) = stream {
                    return self.stream(number, stream, request, writer);
                }
                self.file(number, file).unwrap_or_else(|| Answer::text("404 Not Found", "there is no such file"))
            }
            _ => Answer::text("404 Not Found", "there is no such file"),
        };
        answer.send(writer, request.is_head)
    }

    fn scene(&self) -> Answer {
        let bakes: Vec<_> = (0..self.bakes.len()).map(|number| self.bake(number).describe()).collect();
        Answer {
            status: "200 OK",
            kind: "application/json",
            body: json!({ "exported": false, "bakes": bakes }).to_string().into(),
        }
    }

    fn file(&self, number: usize, name: &str) -> Option<Answer> {
        let mut bake = self.bake(number);
        Some(match name {
            "meshes.bin" => Answer { status: "200 OK", kind: "application/octet-stream", body: bake.meshes() },
            "status.json" => match bake.refresh() {
                Ok(()) => Answer { status: "200 OK", kind: "application/json", body: bake.status().to_string().into() },
                Err(failure) => Answer::failed(&failure),
            },
            "frames.jsonl" => match bake.log() {
                Ok(log) => Answer { status: "200 OK", kind: "application/x-ndjson", body: log? },
                Err(failure) => Answer::failed(&failure),
            },
            _ => return None,
        })
    }

    /// Bytes of a file that is made as it is sent, a frame at a time.
    fn stream(&self, number: usize, stream: Stream, request: &Request, writer: &mut TcpStream) -> io::Result<()> {
        let (length, frame_bytes) = {
            let bake = self.bake(number);
            (bake.stream_length(stream), bake.frame_bytes(stream))
        };
        let range = request.range.as_deref().and_then(|range| parse_range(range, length));
        let (status, bytes, content_range) = match range {
            Some(Err(())) => {
                let mut head = Head::new("416 Range Not Satisfiable", "text/plain", 0);
                head.add("Content-Range", &format!("bytes */{length}"));
                return writer.write_all(head.text().as_bytes());
            }
            Some(Ok(range)) => {
                let content_range = format!("bytes {}-{}/{length}", range.start(), range.end());
                ("206 Partial Content", range, Some(content_range))
            }
            None if length == 0 => {
                return Answer { status: "200 OK", kind: "application/octet-stream", body: Vec::new() }
                    .send(writer, request.is_head);
            }
            None => ("200 OK", 0..=length - 1, None),
        };
        // The first piece is made before anything is promised.
        let piece = |place: u64| {
            let from = place * frame_bytes;
            let (start, end) = (bytes.start().max(&from) - from, (bytes.end() + 1).min(from + frame_bytes) - from);
            self.bake(number).stream(stream, place as usize, start as usize..end as usize)
        };
        let mut places = bytes.start() / frame_bytes..=bytes.end() / frame_bytes;
        let first = match places.next().map(piece) {
            Some(Ok(first)) => first,
            Some(Err(failure)) => return Answer::failed(&failure).send(writer, request.is_head),
            None => Vec::new(),
        };
        let mut head = Head::new(status, "application/octet-stream", bytes.end() - bytes.start() + 1);
        if let Some(range) = content_range {
            head.add("Content-Range", &range);
        }
        writer.write_all(head.text().as_bytes())?;
        if request.is_head {
            return Ok(());
        }
        writer.write_all(&first)?;
        for place in places {
            // The length is promised already: a connection that ends says that it was not kept.
            let piece = piece(place).map_err(|failure| io::Error::other(failure.cause))?;
            writer.write_all(&piece)?;
        }
        Ok(())
    }
}

/// Whether a `Host` header, in small letters, names this machine and the port of the server.
fn names_us(host: &str, port: u16) -> bool {
    let rest = ["127.0.0.1", "localhost"].iter().find_map(|name| host.strip_prefix(name));
    rest.is_some_and(|rest| rest.strip_prefix(':') == Some(&port.to_string()) || (rest.is_empty() && port == HTTP))
}

/// The bytes that a `Range` header means; none if it is of a kind that may be passed over, an error if there are no such bytes.
fn parse_range(header: &str, length: u64) -> Option<Result<RangeInclusive<u64>, ()>> {
    let (from, to) = header.strip_prefix("bytes=")?.split_once('-')?;
    let number = |text: &str| -> Option<u64> {
        let text = text.trim();
        (!text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit())).then(|| text.parse().unwrap_or(u64::MAX))
    };
    let (first, last) = match (number(from), number(to)) {
        (Some(first), Some(last)) if first <= last => (first, last.min(length.saturating_sub(1))),
        (Some(first), None) if to.trim().is_empty() => (first, length.saturating_sub(1)),
        (None, Some(count)) if from.trim().is_empty() => {
            if count == 0 {
                return Some(Err(()));
            }
            (length.saturating_sub(count), length.saturating_sub(1))
        }
        _ => return None,
    };
    Some(if first < length { Ok(first..=last) } else { Err(()) })
}

/// The head of an answer.
struct Head(String);

impl Head {
    fn new(status: &str, kind: &str, length: u64) -> Self {
        let mut head = Head(format!("HTTP/1.1 {status}\r\n"));
        head.add("Content-Type", kind);
        head.add("Content-Length", &length.to_string());
        head.add("Accept-Ranges", "bytes");
        head.add("Cache-Control", "no-store");
        head.add("X-Content-Type-Options", "nosniff");
        // What the page may load it says itself, also where it was exported.
        head.add("Content-Security-Policy", "frame-ancestors 'none'");
        head
    }

    fn add(&mut self, name: &str, value: &str) {
        self.0 += &format!("{name}: {value}\r\n");
    }

    fn text(&self) -> String {
        format!("{}\r\n", self.0)
    }
}

impl Answer {
    fn send(self, writer: &mut TcpStream, is_head: bool) -> io::Result<()> {
        let head = Head::new(self.status, self.kind, self.body.len() as u64);
        writer.write_all(head.text().as_bytes())?;
        if is_head { Ok(()) } else { writer.write_all(&self.body) }
    }
}

#[cfg(test)]
mod tests {
    use super::names_us;

    #[test]
    fn only_port_80_may_be_left_out() {
        assert!(names_us("localhost", 80) && names_us("127.0.0.1", 80) && names_us("localhost:80", 80));
        assert!(names_us("127.0.0.1:8000", 8000) && !names_us("127.0.0.1", 8000) && !names_us("localhost:80", 8000));
        assert!(!names_us("localhost.example.com", 80) && !names_us("example.com", 80) && !names_us("", 80));
    }
}
