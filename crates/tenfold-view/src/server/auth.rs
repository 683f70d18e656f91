//! Access control (token, Host, Origin) and security headers.
//!
//! A page of another site can make a browser send requests here. It does not know the token, it
//! cannot choose the `Host` and `Origin` that the browser sends, and `SameSite=Strict` cookies are
//! not sent with requests that it starts. Other users of this machine do not know the token.

use std::hint::black_box;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, LOCATION, ORIGIN, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};

use super::query::Query;

/// Content security policy: scripts, styles and images from this server only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// Sends the browser to the page where an HTTP redirect would not do: after one that began at
/// another page, such as the file that opens the browser, no `SameSite=Strict` cookie is sent. This
/// page starts a new navigation.
const ENTRANCE: &str = "<!doctype html><meta charset=\"utf-8\"><title>tenfold</title>\
                        <meta http-equiv=\"refresh\" content=\"0; url=/\">\
                        <p><a href=\"/\">Open the viewer</a>\n";

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Access control for one port: its token and its cookie.
pub(super) struct Auth {
    port: u16,
    token: String,
}

/// The decision on a request.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// Allowed.
    Enters,
    /// The token was valid: set the cookie and redirect to the page.
    GetsKey(Sender),
    /// Denied, with the reason.
    StaysOut(StatusCode, &'static str),
}

/// The initiator of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    /// The user, outside of any page, or a page of this server.
    Own,
    /// A page of another site.
    Other,
    /// Unknown.
    Unknown,
}

impl Sender {
    fn of(headers: &HeaderMap) -> Sender {
        match headers.get(FETCH_SITE).map(HeaderValue::as_bytes) {
            Some(b"same-origin" | b"none") => Sender::Own,
            Some(_) => Sender::Other,
            None => Sender::Unknown,
        }
    }
}

impl Auth {
    pub(super) fn new(port: u16, token: String) -> Auth {
        Auth { port, token }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// The name of the cookie: cookies are shared by all ports, and several viewers may run.
    fn cookie(&self) -> String {
        format!("tenfold-{}", self.port)
    }

    /// Whether a host name is this server's.
    fn is_own(&self, host: &str) -> bool {
        let port = self.port;
        let names = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}"));
        // Browsers omit this port.
        let is_bare = port == 80 && ["127.0.0.1", "localhost", "[::1]"].contains(&host);
        is_bare || names.iter().any(|name| name.eq_ignore_ascii_case(host))
    }

    fn judge(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Verdict {
        use Verdict::{Enters, GetsKey, StaysOut};
        const NO: StatusCode = StatusCode::FORBIDDEN;
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        if host.is_none_or(|host| !self.is_own(host)) || hosts.next().is_some() {
            return StaysOut(NO, "this server is asked for by another name than its own");
        }
        let is_own = |name: &str| self.is_own(name);
        if { uri.authority() }.is_some_and(|authority| !is_own(authority.as_str())) {
            return StaysOut(NO, "this server is no proxy");
        }
        let is_own_origin = |origin: &HeaderValue| {
            let origin = origin.to_str().ok();
            origin
                .and_then(|origin| origin.strip_prefix("http://"))
                .is_some_and(is_own)
        };
        if !headers.get_all(ORIGIN).iter().all(is_own_origin) {
            return StaysOut(NO, "another page asks");
        }
        if *method != Method::GET && *method != Method::HEAD {
            return StaysOut(
                StatusCode::METHOD_NOT_ALLOWED,
                "nothing can be changed here",
            );
        }
        let query = Query::of(uri);
        let is_shown = query.get("token").is_some_and(|token| self.opens(token));
        let sender = Sender::of(headers);
        if is_shown && uri.path() == "/" {
            return GetsKey(sender);
        }
        if sender == Sender::Other {
            return StaysOut(NO, "another page asks");
        }
        if is_shown || self.has_key(headers) {
            Enters
        } else {
            StaysOut(
                NO,
                "open the address that tenfold has printed, token and all",
            )
        }
    }

    /// Whether the cookie is valid.
    fn has_key(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie();
        let lines = headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|line| line.to_str().ok());
        let mut cookies = lines.flat_map(|line| line.split(';'));
        cookies.any(|cookie| match cookie.trim().split_once('=') {
            Some((its, value)) => its == name && self.opens(value),
            None => false,
        })
    }

    /// Whether a text is the token, compared in constant time.
    fn opens(&self, word: &str) -> bool {
        let (own, word) = (self.token.as_bytes(), word.as_bytes());
        let different = own
            .iter()
            .zip(word)
            .fold(0, |sum, (a, b)| black_box(sum | (a ^ b)));
        own.len() == word.len() && different == 0
    }
}

/// Allows or denies a request.
pub(super) async fn guard(State(door): State<Arc<Auth>>, request: Request, next: Next) -> Response {
    let verdict = door.judge(request.method(), request.uri(), request.headers());
    let mut response = match verdict {
        Verdict::Enters => next.run(request).await,
        Verdict::GetsKey(sender) => {
            let (name, token) = (door.cookie(), &door.token);
            let cookie = format!("{name}={token}; HttpOnly; SameSite=Strict; Path=/");
            let cookie = [(SET_COOKIE, cookie)];
            match sender {
                Sender::Own => (StatusCode::SEE_OTHER, cookie, [(LOCATION, "/")]).into_response(),
                Sender::Other | Sender::Unknown => (cookie, Html(ENTRANCE)).into_response(),
            }
        }
        Verdict::StaysOut(status @ StatusCode::METHOD_NOT_ALLOWED, why) => {
            (status, [(ALLOW, "GET, HEAD")], format!("{why}\n")).into_response()
        }
        Verdict::StaysOut(status, why) => (status, format!("{why}\n")).into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (RESOURCE_POLICY, "same-origin"),
        (CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(line: &str, headers: &[(&str, &str)]) -> Verdict {
        let door = Auth::new(4000, "0123456789abcdef".into());
        let (method, uri) = line.split_once(' ').unwrap();
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: HeaderName = name.parse().unwrap();
            map.append(name, value.parse().unwrap());
        }
        door.judge(&method.parse().unwrap(), &uri.parse().unwrap(), &map)
    }

    const HOME: (&str, &str) = ("host", "127.0.0.1:4000");
    const KEY: (&str, &str) = ("cookie", "a=b; tenfold-4000=0123456789abcdef");

    #[test]
    fn whoever_has_the_cookie_enters_by_each_of_the_names() {
        for host in [
            "127.0.0.1:4000",
            "localhost:4000",
            "[::1]:4000",
            "LOCALHOST:4000",
        ] {
            let found = judged("GET /api/files", &[("host", host), KEY]);
            assert_eq!(found, Verdict::Enters, "{host}");
        }
        assert_eq!(judged("HEAD /", &[HOME, KEY]), Verdict::Enters);
    }

    #[test]
    fn the_token_gives_the_cookie_at_the_page_alone() {
        let right = "token=0123456789abcdef";
        for (site, sender) in [
            (Some("none"), Sender::Own),
            (Some("same-origin"), Sender::Own),
            (Some("same-site"), Sender::Other),
            (Some("cross-site"), Sender::Other),
            (None, Sender::Unknown),
        ] {
            let site = site.map(|site| ("sec-fetch-site", site));
            let headers: Vec<_> = [HOME].into_iter().chain(site).collect();
            let found = judged(&format!("GET /?{right}"), &headers);
            assert_eq!(found, Verdict::GetsKey(sender));
        }
        assert_eq!(
            judged(&format!("GET /api/files?{right}"), &[HOME]),
            Verdict::Enters
        );
    }

    #[test]
    fn all_others_stay_out() {
        let cases: &[(&str, &[(&str, &str)])] = &[
            ("GET /", &[HOME]),
            ("GET /?token=", &[HOME]),
            ("GET /?token=0123456789abcdee", &[HOME]),
            ("GET /?token=0123456789abcde", &[HOME]),
            ("GET /?token=0123456789abcdef0", &[HOME]),
            (
                "GET /",
                &[HOME, ("cookie", "tenfold-4001=0123456789abcdef")],
            ),
            ("GET /", &[HOME, ("cookie", "tenfold-4000=")]),
            ("GET /", &[KEY]),
            ("GET /", &[("host", "evil.example:4000"), KEY]),
            ("GET /", &[("host", "127.0.0.1"), KEY]),
            ("GET /", &[("host", "127.0.0.1:4001"), KEY]),
            ("GET /", &[("host", "127.0.0.1:4000.evil.example"), KEY]),
            ("GET /", &[HOME, ("host", "evil.example"), KEY]),
            ("GET http://evil.example/", &[HOME, KEY]),
            ("GET /", &[HOME, KEY, ("origin", "http://evil.example")]),
            ("GET /", &[HOME, KEY, ("origin", "null")]),
            ("GET /", &[HOME, KEY, ("origin", "https://127.0.0.1:4000")]),
            ("GET /", &[HOME, KEY, ("origin", "http://127.0.0.1:5000")]),
            ("GET /", &[HOME, KEY, ("sec-fetch-site", "cross-site")]),
            ("GET /", &[HOME, KEY, ("sec-fetch-site", "same-site")]),
        ];
        for (line, headers) in cases {
            let found = judged(line, headers);
            let is_out = matches!(found, Verdict::StaysOut(StatusCode::FORBIDDEN, _));
            assert!(is_out, "{line} {headers:?} {found:?}");
        }
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"] {
            let found = judged(&format!("{method} /"), &[HOME, KEY]);
            let is_out = matches!(found, Verdict::StaysOut(StatusCode::METHOD_NOT_ALLOWED, _));
            assert!(is_out, "{method}");
        }
    }

    #[test]
    fn its_own_page_may_ask() {
        let own = ("origin", "http://localhost:4000");
        let same = ("sec-fetch-site", "same-origin");
        assert_eq!(
            judged("GET /api/files", &[HOME, KEY, own, same]),
            Verdict::Enters
        );
    }
}
