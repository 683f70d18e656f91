//! Embedded files of the page.

use axum::extract::Path;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;

use super::response::HttpError;

#[derive(RustEmbed)]
#[folder = "assets/"]
struct Assets;

/// The page.
pub(super) async fn page() -> Response {
    file("index.html")
}

/// One of its files.
pub(super) async fn asset(Path(path): Path<String>) -> Response {
    file(&path)
}

fn file(path: &str) -> Response {
    // Our own files have no other characters in their names, so that no path leads out of the
    // folder.
    let is_plain = |part: &str| {
        let is_fine = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        !part.starts_with('.') && !part.is_empty() && part.chars().all(is_fine)
    };
    let found = if path.split('/').all(is_plain) {
        Assets::get(path)
    } else {
        None
    };
    match found {
        Some(file) => {
            let headers = [(CONTENT_TYPE, kind(path))];
            (headers, file.data.into_owned()).into_response()
        }
        None => HttpError::missing("there is nothing here").into_response(),
    }
}

fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("txt" | "md") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
