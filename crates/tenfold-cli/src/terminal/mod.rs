//! Standard streams and terminal output: colors, tables, progress.

mod bar;
mod color;
mod phrases;
pub(crate) mod progress_bar;
mod sanitize;
pub(crate) mod stdio;
mod table;
mod verbosity;

pub(crate) use bar::bar;
pub(crate) use color::Paint;
pub(crate) use phrases::{
    cells_text, count_text, counted, dense_len, dim_names_text, dtype_text, growth_text, kind_text,
    names_text, ranks_text, ratio, ratio_text, rough, shape_text, when_text,
};
pub(crate) use progress_bar::Meter;
pub(crate) use sanitize::plain;
pub use stdio::Streams;
#[cfg(test)]
pub(crate) use stdio::printed;
pub(crate) use stdio::{Out, Verbosity, in_output};
pub(crate) use table::{Row, Table};
pub(crate) use verbosity::{ColorWhen, OutputFlags};
