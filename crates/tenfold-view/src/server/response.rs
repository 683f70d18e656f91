//! Responses and HTTP errors.

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// An error response.
#[derive(Debug)]
pub(super) struct HttpError {
    status: StatusCode,
    text: String,
}

impl HttpError {
    /// Invalid request.
    pub(super) fn asked(text: impl Into<String>) -> HttpError {
        HttpError {
            status: StatusCode::BAD_REQUEST,
            text: text.into(),
        }
    }

    /// Not found.
    pub(super) fn missing(text: impl Into<String>) -> HttpError {
        HttpError {
            status: StatusCode::NOT_FOUND,
            text: text.into(),
        }
    }

    /// It exists but cannot be served.
    pub(super) fn cannot(text: impl Into<String>) -> HttpError {
        HttpError {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            text: text.into(),
        }
    }

    /// Internal error.
    pub(super) fn internal() -> HttpError {
        HttpError {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            text: "internal error of the viewer, please report it".into(),
        }
    }
}

impl From<tenfold::Error> for HttpError {
    fn from(error: tenfold::Error) -> HttpError {
        HttpError::cannot(error.to_string())
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let body = json!({ "error": self.text });
        (self.status, Json(body)).into_response()
    }
}

/// A JSON response.
pub(super) struct Json(pub(super) Value);

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        let headers = [(CONTENT_TYPE, "application/json")];
        (headers, self.0.to_string()).into_response()
    }
}

/// Binary data, which a browser must not interpret.
pub(super) struct Binary(pub(super) Vec<u8>);

impl IntoResponse for Binary {
    fn into_response(self) -> Response {
        let headers = [(CONTENT_TYPE, "application/octet-stream")];
        (headers, self.0).into_response()
    }
}

/// The response to an unknown path.
pub(super) async fn nowhere() -> HttpError {
    HttpError::missing("there is nothing here")
}

/// A count: a string above the largest integer exact in JavaScript.
pub(super) fn count(number: impl Into<u128>) -> Value {
    /// The largest integer exact in JavaScript.
    const EXACT: u128 = 1 << 53;
    let number = number.into();
    match u64::try_from(number) {
        Ok(small) if number <= EXACT => json!(small),
        _ => json!(number.to_string()),
    }
}

/// A number, or a string if JSON cannot represent it.
pub(super) fn float(number: f64) -> Value {
    match number.is_finite() {
        true => json!(number),
        false if number.is_nan() => json!("NaN"),
        false if number > 0.0 => json!("inf"),
        false => json!("-inf"),
    }
}
