//! A hub on loopback: one model, small files served directly, weights behind a redirect, as the real one does.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::json;

use super::{COMMIT, WHOLE, tiny};
use crate::embedding::digest::sha256;

/// In which way the hub misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// The connection ends in the middle of the weights.
    BreakOff,
    /// Every request gets the whole file, whatever range it asks for.
    IgnoreRanges,
    /// The weights arrive with one bit changed.
    FlipBit,
    /// Every request is refused with this status.
    Refuse(u16),
    /// Files belong to another commit than the answer about the model said.
    OtherCommit,
}

struct State {
    files: BTreeMap<String, Vec<u8>>,
    fault: Fault,
    requests: Vec<String>,
}

pub(super) struct Server {
    pub(super) endpoint: String,
    state: Arc<Mutex<State>>,
}

impl Server {
    /// Serves `org/tiny`, which is the tiny model `bert-mean`.
    pub(super) fn start() -> Self {
        let read = |name: &str| (name.to_owned(), fs::read(tiny("bert-mean").join(Path::new(name))).unwrap());
        let files = WHOLE.into_iter().map(read).collect();
        let state = Arc::new(Mutex::new(State { files, fault: Fault::None, requests: Vec::new() }));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let (shared, own) = (state.clone(), endpoint.clone());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that goes away in the middle is what some tests are about.
                let _ = answer(stream, &shared, &own);
            }
        });
        Self { endpoint, state }
    }

    pub(super) fn set(&self, fault: Fault) {
        self.state.lock().unwrap().fault = fault;
    }

    pub(super) fn remove(&self, file: &str) {
        self.state.lock().unwrap().files.remove(file);
    }

    pub(super) fn add(&self, file: &str, bytes: &[u8]) {
        self.state.lock().unwrap().files.insert(file.to_owned(), bytes.to_vec());
    }

    /// The requests so far, headers included, and none from now on.
    pub(super) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().requests)
    }
}

fn answer(mut stream: TcpStream, state: &Mutex<State>, endpoint: &str) -> std::io::Result<()> {
    let mut request = String::new();
    let mut reader = BufReader::new(stream.try_clone()?);
    while reader.read_line(&mut request)? > 2 {}
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut state = state.lock().unwrap();
    state.requests.push(request.clone());

    if let Fault::Refuse(status) = state.fault {
        return write!(stream, "HTTP/1.1 {status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
    if path.starts_with("/api/models/org/tiny/revision/") {
        let siblings: Vec<_> = state.files.keys().map(|name| json!({"rfilename": name})).collect();
        let body = json!({"sha": COMMIT, "siblings": siblings}).to_string();
        let length = body.len();
        return write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    }
    let resolved = path.strip_prefix(&format!("/org/tiny/resolve/{COMMIT}/"));
    let Some(name) = resolved.or_else(|| path.strip_prefix("/cdn/")) else {
        return write!(stream, "HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    };
    let Some(bytes) = state.files.get(name) else {
        return write!(stream, "HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    };
    let commit = if state.fault == Fault::OtherCommit { "ffff" } else { COMMIT };
    let sum = sha256(bytes);
    if resolved.is_some() && name.ends_with(".safetensors") {
        return write!(
            stream,
            "HTTP/1.1 302 Found\r\nLocation: {endpoint}/cdn/{name}\r\nX-Repo-Commit: {commit}\r\n\
             X-Linked-Etag: \"{sum}\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
    }
    let etag = &sum[..40];
    let head = format!("ETag: \"{etag}\"\r\nX-Repo-Commit: {commit}\r\nConnection: close\r\n");
    send(&mut stream, &head, bytes, &request, state.fault)
}

/// Sends the range that was asked for, or what the fault makes of it.
fn send(stream: &mut TcpStream, head: &str, bytes: &[u8], request: &str, fault: Fault) -> std::io::Result<()> {
    let range =
        request.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
    let (from, to) = range.as_deref().and_then(|range| range.split_once('-')).unwrap_or(("0", ""));
    let from: usize = from.parse().unwrap();
    let end = to.parse().map_or(bytes.len(), |to: usize| to + 1).min(bytes.len());
    let probe = end - from == 1;
    let whole = fault == Fault::IgnoreRanges && !probe;
    let mut body = if whole { bytes.to_vec() } else { bytes[from..end].to_vec() };
    let (length, total) = (body.len(), bytes.len());
    let weights = total > 50_000 && !probe;
    if weights && fault == Fault::FlipBit {
        body[length / 2] ^= 1;
    }
    if weights && fault == Fault::BreakOff {
        body.truncate(length / 2);
    }
    let status = if whole { "200 OK" } else { "206 Partial Content" };
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n")?;
    write!(stream, "Content-Range: bytes {from}-{}/{total}\r\n{head}\r\n", end - 1)?;
    stream.write_all(&body)
}
