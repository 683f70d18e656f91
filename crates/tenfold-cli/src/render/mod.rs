//! Output as text and JSON.

mod array;
mod describe;
mod element;
mod json;
mod type_spec;
mod value;
mod window;

pub(crate) use array::array;
pub(crate) use describe::{
    describe, metadata, metadata_lines, metadata_object, name_text, note, note_text, shown_name,
};
pub(crate) use element::{element, elements};
pub(crate) use json::{Json, quoted};
pub(crate) use tenfold::bytes_text;
pub(crate) use type_spec::{is_dim_name, type_of, type_spec};
pub(crate) use value::{short_value, value};
pub(crate) use window::{EDGE, Window, is_small};
