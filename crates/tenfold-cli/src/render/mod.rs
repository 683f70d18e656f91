//! How things are printed: for people, and as JSON for programs.

mod array;
mod bar;
mod describe;
mod element;
mod json;
mod paint;
mod plain;
mod table;
mod type_spec;
mod value;
mod window;
mod words;

pub(crate) use array::array;
pub(crate) use bar::bar;
pub(crate) use describe::{
    describe, metadata, metadata_lines, metadata_object, name_text, note, note_text, shown_name,
};
pub(crate) use element::{element, elements};
pub(crate) use json::{Json, quoted};
pub(crate) use paint::Paint;
pub(crate) use plain::plain;
pub(crate) use table::{Row, Table};
pub(crate) use tenfold::bytes_text;
pub(crate) use type_spec::{is_dim_name, type_of, type_spec};
pub(crate) use value::{short_value, value};
pub(crate) use window::{EDGE, Window, is_small};
pub(crate) use words::{
    cells_text, count_text, counted, dense_len, dim_names_text, dtype_text, growth_text, kind_text,
    names_text, ranks_text, ratio, ratio_text, rough, shape_text, when_text,
};
