//! Shapes and texts, in pixels from the upper left corner.

use crate::image::Rgb;

/// A plot, independent of the file format.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// The width.
    pub width: u32,
    /// The height.
    pub height: u32,
    pub(super) items: Vec<Item>,
    /// A short description of the content.
    pub(super) title: String,
}

/// The foreground color.
pub(super) const INK: Rgb = [34, 34, 34];
/// The background color.
pub(super) const PAPER: Rgb = [255, 255, 255];
/// The color of secondary elements.
pub(super) const FAINT: Rgb = [190, 190, 190];

/// An element of a scene; later ones cover earlier ones.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    /// A filled rectangle.
    Rect { area: Area, color: Rgb },
    /// Pixels, scaled to an area.
    Image { area: Area, pixels: Bitmap },
    /// A polyline.
    Line { points: Vec<(f64, f64)>, color: Rgb },
    /// A text.
    Text {
        at: (f64, f64),
        text: String,
        anchor: Anchor,
    },
}

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Area {
    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// The horizontal anchor of a text; vertically, it is always centered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Pixels, row-major.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bitmap {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) pixels: Vec<Rgb>,
}

impl Bitmap {
    pub(super) fn get(&self, x: usize, y: usize) -> Option<Rgb> {
        let at = y.saturating_mul(self.width).saturating_add(x);
        self.pixels.get(at).copied().filter(|_| x < self.width)
    }
}

impl Scene {
    pub(super) fn new((width, height): (u32, u32), title: &str) -> Scene {
        Scene {
            width,
            height,
            items: Vec::new(),
            title: title.into(),
        }
    }

    pub(super) fn rect(&mut self, area: Area, color: Rgb) {
        self.items.push(Item::Rect { area, color });
    }

    pub(super) fn line(&mut self, points: Vec<(f64, f64)>, color: Rgb) {
        self.items.push(Item::Line { points, color });
    }

    pub(super) fn text(&mut self, at: (f64, f64), text: impl Into<String>, anchor: Anchor) {
        let text = text.into();
        self.items.push(Item::Text { at, text, anchor });
    }
}
