//! `tenfold view` among very many connections, and with very few files left to open.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, prlimit, setrlimit};

use crate::support::corpus;
use crate::viewer::Viewer;

const FLOOD: u16 = 2000;

/// How long the page may take on a machine that does much else.
const PROMPT: Duration = Duration::from_secs(2);

fn viewer() -> Viewer {
    Viewer::of(&[corpus("blz/good/two_dims.blz")])
}

/// Whether this process may have so many connections; skips the test otherwise.
fn has_room(test: &str) -> bool {
    let wanted = u64::from(FLOOD) + 200;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < wanted) {
        let raised = Rlimit {
            current: Some(wanted),
            ..limit
        };
        if setrlimit(Resource::Nofile, raised).is_err() {
            eprintln!("skipped: {test}: {wanted} files cannot be open at once");
            return false;
        }
    }
    true
}

/// Connections on which nothing is ever said.
fn idle(viewer: &Viewer, count: u16) -> Vec<TcpStream> {
    let connect = |_| TcpStream::connect(("127.0.0.1", viewer.port)).unwrap();
    (0..count).map(connect).collect()
}

/// The numbers of the files that a viewer has open.
fn open_files(viewer: &Viewer) -> BTreeSet<u64> {
    let open = fs::read_dir(format!("/proc/{}/fd", viewer.child.id())).unwrap();
    let number = |file: fs::DirEntry| file.file_name().to_str()?.parse().ok();
    open.filter_map(|file| number(file.unwrap())).collect()
}

/// Ends the numbers that files of a viewer may have; gives where they ended before.
fn limit_files(viewer: &Viewer, end: u64) -> Rlimit {
    let limit = Rlimit {
        current: Some(end),
        maximum: getrlimit(Resource::Nofile).maximum,
    };
    prlimit(Some(viewer.pid()), Resource::Nofile, limit).unwrap()
}

/// How long the page took.
fn page(viewer: &Viewer) -> Duration {
    let begun = Instant::now();
    let answer = viewer.get("/");
    assert_eq!(answer.status, 200);
    assert!(answer.text().contains("</html>"));
    begun.elapsed()
}

/// How long an answer took for which no file is opened; the page is one in a debug build.
fn listing(viewer: &Viewer) -> Duration {
    let begun = Instant::now();
    viewer.json("/api/files");
    begun.elapsed()
}

#[test]
fn the_page_is_answered_among_2000_idle_connections() {
    if !has_room("the_page_is_answered_among_2000_idle_connections") {
        return;
    }
    let viewer = viewer();
    let begun = Instant::now();
    let flood = idle(&viewer, FLOOD);
    let connected = begun.elapsed();
    let first = page(&viewer);
    let (open, peak) = (open_files(&viewer).len(), viewer.peak() >> 20);
    println!("{FLOOD} connections in {connected:?}, then the page in {first:?}");
    println!("{open} files are open, {peak} MiB were used at most");
    assert!(first < PROMPT, "{first:?}");
    assert!(open < 1100, "{open}");
    for _ in 0..20 {
        assert!(page(&viewer) < PROMPT);
    }
    drop(flood);
}

#[test]
fn the_page_is_answered_while_connections_keep_coming() {
    if !has_room("the_page_is_answered_while_connections_keep_coming") {
        return;
    }
    let viewer = viewer();
    let slowest = thread::scope(|scope| {
        let slowest = scope.spawn(|| (0..50).map(|_| page(&viewer)).max().unwrap());
        while !slowest.is_finished() {
            drop(idle(&viewer, 500));
        }
        slowest.join().unwrap()
    });
    println!("the slowest of 50 pages took {slowest:?}");
    assert!(slowest < PROMPT, "{slowest:?}");
}

#[test]
fn a_viewer_without_files_to_open_waits_and_recovers() {
    let viewer = viewer();
    listing(&viewer);
    let open = open_files(&viewer);
    // Room for two: the oldest connections are closed for new ones.
    let free = (0..).filter(|number| !open.contains(number));
    let end = free.take(3).last().unwrap();
    limit_files(&viewer, end);
    let flood = idle(&viewer, 200);
    assert!(listing(&viewer) < PROMPT);
    drop(flood);
    // Room for none: nothing is answered, and nothing spins.
    let before = limit_files(&viewer, 0);
    let waiting = thread::scope(|scope| {
        let waiting = scope.spawn(|| listing(&viewer));
        let begun = cpu_time(&viewer);
        thread::sleep(Duration::from_secs(1));
        let spent = cpu_time(&viewer) - begun;
        assert!(spent < Duration::from_millis(300), "{spent:?}");
        assert!(!waiting.is_finished());
        let raised = Rlimit {
            current: before.maximum,
            ..before
        };
        prlimit(Some(viewer.pid()), Resource::Nofile, raised).unwrap();
        waiting.join().unwrap()
    });
    assert!(waiting < Duration::from_secs(1) + PROMPT, "{waiting:?}");
}

/// The time that a viewer has computed.
fn cpu_time(viewer: &Viewer) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{}/stat", viewer.child.id())).unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let ticks = fields.split(' ').skip(11).take(2);
    let ticks: u64 = ticks.map(|field| field.parse::<u64>().unwrap()).sum();
    // A tick is a hundredth of a second on every Linux.
    Duration::from_millis(ticks * 10)
}
