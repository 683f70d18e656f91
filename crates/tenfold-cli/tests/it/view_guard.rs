//! Who is let in by `tenfold view`, over real sockets, and what every answer says about itself.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::net::TcpStream;

use tempfile::TempDir;

use crate::support::{corpus, tenfold};
use crate::viewer::{Answer, Viewer};

fn viewer() -> Viewer {
    Viewer::of(&[corpus("blz/good/two_dims.blz")])
}

/// Every answer says what a browser may do with it.
fn check_headers(answer: &Answer) {
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; \
                  img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; \
                  form-action 'none'; frame-ancestors 'none'";
    for (name, value) in [
        ("content-security-policy", policy),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(answer.header(name), Some(value));
    }
    assert_eq!(answer.header("access-control-allow-origin"), None);
}

#[test]
fn the_token_becomes_a_cookie_and_the_cookie_opens_the_page() {
    let viewer = viewer();
    assert_eq!(viewer.token.len(), 32);
    let (port, token) = (viewer.port, &viewer.token);
    let cookie = format!("tenfold-{port}={token}; HttpOnly; SameSite=Strict; Path=/");
    let typed = "Sec-Fetch-Site: none";
    let line = format!("GET /?token={token}");
    let answer = viewer.send(&line, &[&viewer.host(), typed]);
    assert_eq!(answer.status, 303);
    assert_eq!(answer.header("location"), Some("/"));
    assert_eq!(answer.header("set-cookie"), Some(cookie.as_str()));
    check_headers(&answer);
    // A browser that comes from another page would send no cookie after a redirection.
    for from in ["Sec-Fetch-Site: cross-site", "Accept: text/html"] {
        let answer = viewer.send(&line, &[&viewer.host(), from]);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("set-cookie"), Some(cookie.as_str()));
        assert!(answer.text().contains("content=\"0; url=/\""));
        assert!(!answer.text().contains(token));
        check_headers(&answer);
    }
    let page = viewer.get("/");
    assert_eq!(page.status, 200);
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    assert!(!page.text().contains(token));
    check_headers(&page);
    let head = viewer.send("HEAD /api/files", &[&viewer.host(), &viewer.cookie()]);
    assert_eq!((head.status, head.body.len()), (200, 0));
}

#[test]
fn strangers_get_a_sentence_and_nothing_else() {
    let viewer = viewer();
    let (host, cookie) = (viewer.host(), viewer.cookie());
    let port = viewer.port;
    let evil = format!("Host: evil.example:{port}");
    let bare = "Host: 127.0.0.1".to_owned();
    let wrong = format!("Cookie: tenfold-{port}={}", "0".repeat(32));
    let other = format!("Cookie: tenfold-{}={}", port.wrapping_add(1), viewer.token);
    let foreign = "Origin: http://evil.example".to_owned();
    let secure = format!("Origin: https://127.0.0.1:{port}");
    let neighbour = "Origin: http://127.0.0.1:1".to_owned();
    let cross = "Sec-Fetch-Site: cross-site".to_owned();
    let paths = [
        "/",
        "/api/files",
        "/api/export?file=0&tensor=0&as=npy",
        "/assets/index.html",
    ];
    for path in paths
        .iter()
        .chain(&["/nowhere", "/?token=", "/?token=0123"])
    {
        for headers in [
            &[&host][..],
            &[&cookie],
            &[&evil, &cookie],
            &[&bare, &cookie],
            &[&host, &evil, &cookie],
            &[&host, &wrong],
            &[&host, &other],
            &[&host, &cookie, &foreign],
            &[&host, &cookie, &secure],
            &[&host, &cookie, &neighbour],
            &[&host, &cookie, &"Origin: null".to_owned()],
            &[&host, &cookie, &cross],
        ] {
            let headers: Vec<&str> = headers.iter().map(|header| header.as_str()).collect();
            let answer = viewer.send(&format!("GET {path}"), &headers);
            assert_eq!(answer.status, 403, "{path} {headers:?}");
            assert_eq!(answer.text().lines().count(), 1);
            assert!(!answer.text().contains("two_dims"), "{}", answer.text());
            check_headers(&answer);
        }
    }
    // With a name of somebody else the token is of no use either.
    let line = format!("GET /?token={}", viewer.token);
    assert_eq!(viewer.send(&line, &[&evil]).status, 403);
    assert_eq!(viewer.send(&line, &[&host, &foreign]).status, 403);
}

#[test]
fn nothing_can_be_changed() {
    let viewer = viewer();
    for method in [
        "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND",
    ] {
        for path in ["/", "/api/files", "/assets/index.html"] {
            let line = format!("{method} {path}");
            let answer = viewer.send(&line, &[&viewer.host(), &viewer.cookie()]);
            assert_eq!(answer.status, 405, "{line}");
            assert_eq!(answer.header("allow"), Some("GET, HEAD"));
            check_headers(&answer);
        }
    }
}

#[test]
fn no_path_leads_to_a_file() {
    let viewer = viewer();
    for path in [
        "/assets/../../etc/passwd",
        "/assets/../../../../../../../../etc/passwd",
        "/assets/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/assets/..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
        "/assets/%252e%252e%252fetc%252fpasswd",
        "/assets/..\\..\\etc\\passwd",
        "/assets/..%5c..%5cetc%5cpasswd",
        "/assets//etc/passwd",
        "/assets/%2fetc%2fpasswd",
        "/assets/index.html%00.png",
        "/assets/%00",
        "/assets/%ff%fe",
        "/assets/./index.html",
        "/assets/.",
        "/assets/..",
        "/assets/",
        "/assets/../Cargo.toml",
        "/assets/%2e%2e/Cargo.toml",
        "//etc/passwd",
        "/etc/passwd",
        "/api/../etc/passwd",
        "/../../etc/passwd",
        "/two_dims.blz",
    ] {
        let answer = viewer.get(path);
        assert!(
            [400, 404].contains(&answer.status),
            "{path}: {}",
            answer.status
        );
        let text = answer.text();
        assert!(
            !text.contains("root:") && !text.contains("[package]"),
            "{path}"
        );
        check_headers(&answer);
    }
    assert_eq!(viewer.get("/assets/index.html").status, 200);
}

#[test]
fn complaints_are_json_and_name_what_is_wrong() {
    let viewer = viewer();
    for (path, status, text) in [
        ("/nowhere", 404, "there is nothing here"),
        ("/api/tensors", 400, "file is missing"),
        (
            "/api/tensors?file=x",
            400,
            "file is no number that can be meant",
        ),
        (
            "/api/tensors?file=-1",
            400,
            "file is no number that can be meant",
        ),
        ("/api/tensors?file=7", 404, "there is no file 7"),
        ("/api/tensor?file=0&tensor=3", 404, "there is no tensor 3"),
        (
            "/api/tile?file=0&tensor=0&rows=0&cols=9&at=0,0",
            422,
            "there is no axis 9",
        ),
        (
            "/api/tile?file=0&tensor=0&at=a",
            400,
            "at is a place for every dimension, with commas between",
        ),
        (
            "/api/tile?file=0&tensor=0&part=colour",
            422,
            "a part is value, real, imaginary, magnitude, phase or 0 to 7",
        ),
        (
            "/api/tile?file=0&tensor=0&with=0",
            400,
            "with is FILE,TENSOR",
        ),
        (
            "/api/export?file=0&tensor=0&as=exe",
            400,
            "as is npy, csv or json",
        ),
        (
            "/api/blocks?file=0&tensor=0",
            422,
            "only sparse and labelled tensors have blocks",
        ),
        (
            "/api/line?file=0&tensor=0&axis=5",
            422,
            "there is no axis 5",
        ),
        (
            "/api/worst?file=0&tensor=0",
            422,
            "two tensors are compared",
        ),
    ] {
        let answer = viewer.get(path);
        assert_eq!(
            (answer.status, answer.json()["error"].as_str()),
            (status, Some(text)),
            "{path}"
        );
        check_headers(&answer);
    }
}

/// A file whose one tensor is called as a page would be attacked.
fn named(folder: &TempDir, name: &str) -> std::path::PathBuf {
    let name = serde_json::Value::from(name).to_string();
    let header = format!("{{{name}:{{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}}}");
    let mut file = u64::try_from(header.len()).unwrap().to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.push(7);
    let path = folder
        .path()
        .join("<img src=x onerror=alert(1)>.safetensors");
    std::fs::write(&path, file).unwrap();
    path
}

#[test]
fn names_that_are_markup_stay_text() {
    let folder = tempfile::tempdir().unwrap();
    let name = "</script><script>alert(1)</script>\"'\r\nSet-Cookie: a=b";
    let viewer = Viewer::of(&[named(&folder, name)]);
    let files = viewer.json("/api/files");
    assert_eq!(
        files["files"][0]["name"],
        "<img src=x onerror=alert(1)>.safetensors"
    );
    let tensors = viewer.json("/api/tensors?file=0");
    assert_eq!(tensors["names"][0], name);
    let tensor = viewer.json("/api/tensor?file=0&tensor=0");
    let show = tensor["show"].as_str().unwrap();
    assert!(show.starts_with("tenfold show '") && show.ends_with('\''));
    assert!(show.contains(r"'\''"), "{show}");
    let export = viewer.get("/api/export?file=0&tensor=0&rows=0&at=0&as=csv");
    assert_eq!(export.status, 200);
    assert_eq!(export.header("set-cookie"), None);
    let disposition = export.header("content-disposition").unwrap();
    let plain =
        "attachment; filename=\"__script__script_alert_1___script_____Set-Cookie__a_b.csv\"";
    assert_eq!(disposition, plain);
    assert_eq!(export.text(), "7\n");
}

#[test]
fn a_file_that_cannot_be_opened_starts_no_server() {
    let bad = corpus("blz/bad/ndim_1.blz");
    let ran = tenfold([
        "view",
        "--no-open",
        corpus("blz/good/two_dims.blz").as_str(),
        &bad,
    ]);
    assert_eq!(ran.exit.code(), 1);
    assert!(ran.out.is_empty() && ran.errors.contains(&bad), "{ran}");
}

#[test]
fn it_listens_at_both_addresses_of_this_machine_and_a_port_is_taken_once() {
    let viewer = viewer();
    if std::net::TcpListener::bind("[::1]:0").is_ok() {
        let mut stream = TcpStream::connect(("::1", viewer.port)).unwrap();
        let host = format!("Host: [::1]:{}", viewer.port);
        let cookie = viewer.cookie();
        let request = format!("GET /api/files HTTP/1.0\r\n{host}\r\n{cookie}\r\n\r\n");
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        assert_eq!(crate::viewer::read(&mut stream).status, 200);
    }
    let port = viewer.port.to_string();
    let file = corpus("blz/good/two_dims.blz");
    let ran = tenfold(["view", "--no-open", "--port", &port, &file]);
    assert_eq!(ran.exit.code(), 2);
    assert!(
        ran.errors.starts_with("tenfold: no port to listen on: "),
        "{ran}"
    );
}

#[test]
fn an_interrupt_ends_it_and_is_no_failure() {
    let mut viewer = viewer();
    rustix::process::kill_process(viewer.pid(), rustix::process::Signal::INT).unwrap();
    assert_eq!(viewer.child.wait().unwrap().code(), Some(0));
}
