//! Pictures without a browser: heat maps, lines and histograms as png, svg or in a terminal.
//!
//! A picture is first a [`Scene`], shapes and texts in pixels; what writes files knows nothing of
//! tensors.

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

/// What is drawn: a tensor, and what to call it.
pub struct Drawing<'a> {
    /// The tensor; of one of more than two dimensions the last two are drawn, at the start of the others.
    pub tensor: &'a Tensor,
    /// What stands above the picture.
    pub title: String,
    /// How it is drawn.
    pub options: Options,
    /// How much reading it may ask for.
    pub limits: tenfold::Limits,
}

impl Drawing<'_> {
    /// Draws it.
    ///
    /// # Errors
    /// [`tenfold::Error::Invalid`] if the tensor cannot be drawn, and what reading gives.
    pub fn scene(&self) -> Result<Scene> {
        let subject = self.subject()?;
        match self.kind()? {
            Kind::Heat => heatmap::draw(self, &subject),
            Kind::Line => lines::draw(self, &subject),
            Kind::Histogram => histogram::draw(self, &subject),
        }
    }

    /// The kind that is asked for, else the one that goes with the number of dimensions.
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

    /// What an axis is called.
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
