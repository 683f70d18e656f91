//! Tests with many, idle and slow clients, and with panicking handlers, against a running server.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{fs, thread};

use tempfile::TempDir;
use tenfold::Limits;

use crate::server::*;

/// Too large for any socket buffer.
const LARGE: u64 = 64 << 20;

/// Upper bound for a response, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// The deadlines of these tests, much shorter than `PATIENCE`.
const SOON: Duration = Duration::from_millis(300);

/// A server that shows a large file until the process ends.
struct Running {
    port: u16,
    token: String,
    panics: Arc<Mutex<Vec<String>>>,
    _folder: TempDir,
}

/// Formatters of which two panic, one of them halfway.
const PANICKING: Wording = Wording {
    metadata: |_, _| panic!("no metadata"),
    note: |_, _| String::new(),
    csv: |_, _, _, _| panic!("no table"),
    json: |_, _, _, mut writer| {
        writer.write_all(&[b' '; 1 << 20])?;
        panic!("no end")
    },
};

impl Running {
    fn start(limits: ConnectionLimits) -> Running {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.npy");
        let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({LARGE},), }}");
        let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        bytes.extend(format!("{header:<117}\n").bytes());
        fs::write(&path, &bytes).unwrap();
        let len = u64::try_from(bytes.len()).unwrap() + LARGE;
        fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(len)
            .unwrap();
        let file = File {
            name: "large.npy".into(),
            word: "large.npy".into(),
            is_whole: true,
            len,
            opened: tenfold::open(&path).unwrap(),
        };
        let panics = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&panics);
        let server = Server::bind(vec![file], PANICKING, &Limits::default(), None)
            .unwrap()
            .with_connection_limits(limits)
            .with_observer(move |event| {
                if let Event::Panicked { request, message } = event {
                    seen.lock().unwrap().push(format!("{request}: {message}"));
                }
            });
        let url = server.url();
        let (port, token) = { url.strip_prefix("http://127.0.0.1:") }
            .and_then(|rest| rest.split_once("/?token="))
            .unwrap();
        let (port, token) = (port.parse().unwrap(), token.to_owned());
        thread::spawn(|| server.run().unwrap());
        Running {
            port,
            token,
            panics,
            _folder: folder,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// A request like those of the page.
    fn request(&self, path: &str, more: &str) -> String {
        let (port, token) = (self.port, &self.token);
        format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: tenfold-{port}={token}\r\n\
             {more}\r\n"
        )
    }

    /// Sends a request and leaves the connection open.
    fn send(&self, stream: &mut TcpStream, path: &str) {
        stream.write_all(self.request(path, "").as_bytes()).unwrap();
    }

    /// The response on a new connection.
    fn get(&self, path: &str) -> String {
        let mut stream = self.connect();
        let request = self.request(path, "Connection: close\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        rest(&mut stream)
    }
}

/// All further data, until the server closes the connection.
fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("the server does not close the connection: {error}"),
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether the response has begun correctly.
fn is_answered(stream: &mut TcpStream) -> bool {
    let mut begin = [0; 12];
    stream.read_exact(&mut begin).is_ok() && &begin == b"HTTP/1.1 200"
}

fn quick() -> ConnectionLimits {
    ConnectionLimits {
        header_timeout: SOON,
        write_timeout: SOON,
        ..ConnectionLimits::default()
    }
}

const EXPORT: &str = "/api/export?file=0&tensor=0&rows=0&at=0&as=npy";

#[test]
fn a_connection_that_says_nothing_or_too_little_is_closed() {
    let server = Running::start(quick());
    let mut silent = server.connect();
    let mut unfinished = server.connect();
    unfinished.write_all(b"GET / HTTP/1.1\r\nHost:").unwrap();
    let mut dribbling = server.connect();
    let begun = Instant::now();
    // Single bytes do not extend a deadline.
    while dribbling.write_all(b"G").is_ok() {
        assert!(begun.elapsed() < PATIENCE);
        thread::sleep(SOON / 6);
    }
    assert_eq!(rest(&mut silent), "");
    assert_eq!(rest(&mut unfinished), "");
}

#[test]
fn a_connection_is_closed_when_it_is_idle_after_an_answer() {
    let server = Running::start(quick());
    let mut stream = server.connect();
    server.send(&mut stream, "/assets/index.html");
    let answer = rest(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("</html>"));
}

#[test]
fn a_body_that_never_comes_is_not_waited_for() {
    let server = Running::start(ConnectionLimits::default());
    let mut stream = server.connect();
    let request = server.request("/assets/index.html", "Content-Length: 1000000\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    assert!(rest(&mut stream).starts_with("HTTP/1.1 200"));
}

#[test]
fn clients_that_do_not_read_keep_no_work_going() {
    let server = Running::start(quick());
    // The largest number of concurrent downloads.
    let mut stalled = [server.connect(), server.connect()];
    for stream in &mut stalled {
        server.send(stream, EXPORT);
        assert!(is_answered(stream));
    }
    let mut stream = server.connect();
    server.send(&mut stream, EXPORT);
    assert!(is_answered(&mut stream), "downloads have not ended");
}

#[test]
fn the_oldest_strangers_make_room_and_the_page_keeps_its_connection() {
    let server = Running::start(ConnectionLimits {
        max: 4,
        ..ConnectionLimits::default()
    });
    let mut page = server.connect();
    server.send(&mut page, EXPORT);
    assert!(is_answered(&mut page));
    let mut strangers: Vec<TcpStream> = (0..12).map(|_| server.connect()).collect();
    assert!(server.get("/").starts_with("HTTP/1.1 200"));
    let (closed, open) = strangers.split_at_mut(8);
    for stranger in closed {
        assert_eq!(rest(stranger), "");
    }
    for stranger in open.iter_mut().rev().take(2) {
        stranger.set_read_timeout(Some(SOON)).unwrap();
        let waiting = stranger.read(&mut [0]).unwrap_err().kind();
        assert_eq!(waiting, ErrorKind::WouldBlock);
    }
    let mut len = 0;
    let mut piece = vec![0; 1 << 20];
    while len < LARGE {
        let read = page.read(&mut piece).unwrap();
        assert!(read > 0, "the answer breaks off after {len} bytes");
        len += u64::try_from(read).unwrap();
    }
}

#[test]
fn idle_connections_of_the_page_make_room_and_busy_ones_end_their_answer() {
    let server = Running::start(ConnectionLimits {
        max: 2,
        ..ConnectionLimits::default()
    });
    let mut idle = server.connect();
    server.send(&mut idle, "/assets/index.html");
    assert!(is_answered(&mut idle));
    let mut busy = server.connect();
    server.send(&mut busy, EXPORT);
    assert!(is_answered(&mut busy));
    assert!(server.get("/").starts_with("HTTP/1.1 200"));
    assert!(rest(&mut idle).contains("</html>"));
    let export = rest(&mut busy);
    assert!(u64::try_from(export.len()).unwrap() > LARGE);
    assert!(export.ends_with("\r\n0\r\n\r\n"));
}

#[test]
fn a_panic_is_one_failed_request() {
    let server = Running::start(ConnectionLimits::default());
    let csv = EXPORT.replace("npy", "csv");
    for (path, panic) in [
        ("/api/files", "GET /api/files: no metadata"),
        (
            "/api/tensor?file=0&tensor=0",
            "GET /api/tensor: no metadata",
        ),
        (csv.as_str(), "GET /api/export: no table"),
    ] {
        // More often than there are threads or permits.
        for _ in 0..5 {
            let answer = server.get(path);
            assert!(answer.starts_with("HTTP/1.1 500"), "{path}: {answer}");
            let text = "{\"error\":\"internal error of the viewer, please report it\"}";
            assert!(answer.ends_with(text), "{answer}");
            assert!(answer.contains("content-security-policy: "), "{answer}");
            assert_eq!(server.panics.lock().unwrap().pop().unwrap(), panic);
        }
    }
    assert!(server.panics.lock().unwrap().is_empty());
    assert!(
        server
            .get("/api/tensors?file=0")
            .starts_with("HTTP/1.1 200")
    );
}

#[test]
fn an_answer_that_panics_halfway_is_seen_to_break_off() {
    let server = Running::start(ConnectionLimits::default());
    for _ in 0..3 {
        let answer = server.get(&EXPORT.replace("npy", "json"));
        assert!(answer.starts_with("HTTP/1.1 200"));
        assert!(!answer.ends_with("\r\n0\r\n\r\n"), "the answer looks whole");
    }
    assert_eq!(server.panics.lock().unwrap().len(), 3);
    assert!(
        server
            .get("/api/tensors?file=0")
            .starts_with("HTTP/1.1 200")
    );
}
