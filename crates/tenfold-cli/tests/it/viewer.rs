//! A viewer that runs, and what a browser would say to it.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "only tests use it"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Pid;
use serde_json::Value;

use crate::support::interruptible;

/// A viewer that says nothing for so long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// `tenfold view --no-open FILE…`, ended when it is dropped.
pub(crate) struct Viewer {
    pub(crate) child: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// What it answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find_map(|(its, value)| its.eq_ignore_ascii_case(name).then_some(value.as_str()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Viewer {
    pub(crate) fn of(files: &[impl AsRef<Path>]) -> Viewer {
        Viewer::with(files, &[])
    }

    pub(crate) fn with(files: &[impl AsRef<Path>], flags: &[&str]) -> Viewer {
        let mut command = interruptible(env!("CARGO_BIN_EXE_tenfold"));
        command.args(["view", "--no-open"]).args(flags);
        command.args(files.iter().map(AsRef::as_ref));
        Viewer::start(&mut command)
    }

    /// What a command starts that prints the address.
    pub(crate) fn start(command: &mut Command) -> Viewer {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let rest = line.strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = rest.trim_end().split_once("/?token=").unwrap();
        Viewer {
            child,
            port: port.parse().unwrap(),
            token: token.into(),
        }
    }

    /// The cookie that a browser keeps.
    pub(crate) fn cookie(&self) -> String {
        format!("Cookie: tenfold-{}={}", self.port, self.token)
    }

    /// The name by which it is asked for.
    pub(crate) fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}", self.port)
    }

    /// Sends a request line and headers as they are.
    pub(crate) fn send(&self, line: &str, headers: &[&str]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = format!("{line} HTTP/1.0\r\n");
        for header in headers {
            request.push_str(header);
            request.push_str("\r\n");
        }
        stream.write_all(request.as_bytes()).unwrap();
        stream.write_all(b"\r\n").unwrap();
        read(&mut stream)
    }

    /// What a page of its own gets.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET {path}"), &[&self.host(), &self.cookie()])
    }

    /// JSON that it must give.
    pub(crate) fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert_eq!(answer.header("content-type"), Some("application/json"));
        answer.json()
    }

    /// Its process.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// The most memory it has had, in bytes.
    pub(crate) fn peak(&self) -> u64 {
        let status = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(status).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.unwrap().trim().strip_suffix(" kB").unwrap();
        kibibytes.trim().parse::<u64>().unwrap() * 1024
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads an answer to its end.
pub(crate) fn read(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap();
    let headers = lines.map(|line| {
        let (name, value) = line.split_once(": ").unwrap();
        (name.to_owned(), value.to_owned())
    });
    Answer {
        status: status.parse().unwrap(),
        headers: headers.collect(),
        body: bytes[end + 4..].to_vec(),
    }
}
