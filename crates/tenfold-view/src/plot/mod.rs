//! Plots without a browser: heat maps, lines and histograms as PNG, SVG or in a terminal.
//!
//! A plot is first drawn as a [`Scene`], shapes and texts in pixels; the file writers know nothing
//! about tensors.

mod axes;
mod font;
mod heatmap;
mod histogram;
mod lines;
mod options;
mod png;
mod scene;
mod svg;
mod terminal;
#[cfg(test)]
mod tests;

use tenfold::{Result, Tensor};

pub use options::{Ends, Kind, Options};
pub use png::png;
pub use scene::Scene;
pub use svg::svg;
pub use terminal::terminal;

use crate::image::{CancelToken, Part, Region, TensorView};

/// The input of a plot: a tensor, and its name.
pub struct Drawing<'a> {
    /// The tensor; above two dimensions, the last two are drawn at the start of the others.
    pub tensor: &'a Tensor,
    /// The title.
    pub title: String,
    /// The options.
    pub options: Options,
    /// The limits on reading.
    pub limits: tenfold::Limits,
}

impl Drawing<'_> {
    /// Draws it.
    ///
    /// # Errors
    /// [`tenfold::Error::Invalid`] if the tensor cannot be drawn, and those of reading.
    pub fn scene(&self) -> Result<Scene> {
        let subject = self.subject()?;
        match self.kind()? {
            Kind::Heat => heatmap::draw(self, &subject),
            Kind::Line => lines::draw(self, &subject),
            Kind::Histogram => histogram::draw(self, &subject),
        }
    }

    /// The requested kind, or the default for the number of dimensions.
    fn kind(&self) -> Result<Kind> {
        let usual = match self.tensor.dims().len() {
            0 | 1 => Kind::Line,
            _ => Kind::Heat,
        };
        Ok(self.options.kind.unwrap_or(usual))
    }

    fn subject(&self) -> Result<TensorView> {
        let part = self
            .options
            .part
            .unwrap_or(Part::usual(self.tensor.dtype()));
        TensorView::new(self.tensor, part, &self.limits)
    }

    fn region(&self, subject: &TensorView) -> Result<Region> {
        Ok(Region::first_of(&subject.sizes()?))
    }

    /// The label of an axis.
    fn axis_name(&self, axis: Option<usize>) -> String {
        let Some(axis) = axis else {
            return String::new();
        };
        let name = self
            .tensor
            .dims()
            .get(axis)
            .and_then(|dim| dim.name.clone());
        name.unwrap_or_else(|| format!("axis {axis}"))
    }

    fn stop() -> CancelToken {
        CancelToken::default()
    }
}
