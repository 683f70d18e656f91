//! Heat maps.

use tenfold::Result;

use super::Drawing;
use super::axes::{Axis, field, frame, squared};
use super::scene::{Anchor, Area, Bitmap, INK, Item, Scene};
use crate::image::{
    ColorMap, NAN, NEGATIVE, NEGATIVE_INFINITY, NOT_A_NUMBER, POSITIVE, POSITIVE_INFINITY, Region,
    Rgb, Scale, TensorView, Tile, narrow, tile,
};

pub(super) fn draw(drawing: &Drawing, subject: &TensorView) -> Result<Scene> {
    let mut scene = Scene::new(drawing.options.size, &drawing.title);
    let region = drawing.region(subject)?;
    let (rows, columns) = region.size();
    let area = squared(field(&scene, true), rows, columns);
    let wanted = (whole(area.height), whole(area.width));
    let heat = Heat::new(drawing, subject, &region, wanted)?;
    scene.items.push(Item::Image {
        area,
        pixels: heat.bitmap(),
    });
    let down = Axis::cells(drawing.axis_name(region.rows), region.down.start, rows);
    let right = Axis::cells(
        drawing.axis_name(region.columns),
        region.right.start,
        columns,
    );
    frame(&mut scene, area, &down, &right, false);
    heat.bar(&mut scene, area);
    Ok(scene)
}

/// A length in whole pixels.
pub(super) fn whole(length: f64) -> u64 {
    #[expect(clippy::as_conversions, reason = "a few thousand pixels at most")]
    let whole = length.max(1.0).round() as u64;
    whole
}

/// A tile and its mapping to colors.
pub(super) struct Heat {
    tile: Tile,
    colors: ColorMap,
    scale: Scale,
    pub(super) ends: (f64, f64),
}

impl Heat {
    pub(super) fn new(
        drawing: &Drawing,
        subject: &TensorView,
        region: &Region,
        wanted: (u64, u64),
    ) -> Result<Heat> {
        let tile = tile(subject, region, wanted, false, &Drawing::stop())?;
        let found = (tile.lowest.unwrap_or(0.0), tile.highest.unwrap_or(1.0));
        let (scale, colors) = (drawing.options.scale, drawing.options.colors);
        let mut ends = drawing.options.ends(subject, region, found)?;
        if scale == Scale::Log && ends.0 <= 0.0 {
            // From the smallest positive number.
            let positive = tile.mean.iter().filter(|mean| **mean > 0.0);
            let least = positive.map(|mean| f64::from(*mean)).reduce(f64::min);
            ends.0 = least.unwrap_or(ends.0);
        }
        Ok(Heat {
            tile,
            colors,
            scale,
            ends,
        })
    }

    pub(super) fn bitmap(&self) -> Bitmap {
        let pixels = self.tile.mean.iter().zip(&self.tile.flags);
        Bitmap {
            width: self.tile.width,
            height: self.tile.height,
            pixels: pixels
                .map(|(mean, flags)| self.color(*mean, *flags))
                .collect(),
        }
    }

    /// The color of a pixel: non-finite numbers are visible even if they are few among its cells.
    fn color(&self, mean: f32, flags: u8) -> Rgb {
        match flags {
            flags if flags & NAN != 0 => NOT_A_NUMBER,
            flags if flags & POSITIVE != 0 => POSITIVE_INFINITY,
            flags if flags & NEGATIVE != 0 => NEGATIVE_INFINITY,
            _ => self.at(self.scale.place(mean.into(), self.ends)),
        }
    }

    /// The letter for a pixel with non-finite numbers.
    pub(super) fn letter(&self, x: usize, y: usize) -> Option<char> {
        let flags = self.tile.flags.get(self.index(x, y)).copied()?;
        match flags {
            flags if flags & NAN != 0 => Some('?'),
            flags if flags & POSITIVE != 0 => Some('^'),
            flags if flags & NEGATIVE != 0 => Some('v'),
            _ => None,
        }
    }

    /// The position of a pixel between the ends.
    pub(super) fn place(&self, x: usize, y: usize) -> f64 {
        let mean = self.tile.mean.get(self.index(x, y)).copied();
        self.scale.place(mean.unwrap_or(f32::NAN).into(), self.ends)
    }

    fn index(&self, x: usize, y: usize) -> usize {
        y.saturating_mul(self.tile.width).saturating_add(x)
    }

    /// The color of a position between the ends.
    pub(super) fn at(&self, place: f64) -> Rgb {
        self.colors.color(place)
    }

    /// Draws the color bar.
    fn bar(&self, scene: &mut Scene, beside: Area) {
        const STEPS: u64 = 256;
        let area = Area {
            left: beside.right() + 24.0,
            width: 16.0,
            ..beside
        };
        let step = |step: u64| crate::image::float(step) / crate::image::float(STEPS - 1);
        let pixels = (0..STEPS).rev().map(|at| self.at(step(at))).collect();
        let (width, height) = (1, narrow(STEPS));
        let pixels = Bitmap {
            width,
            height,
            pixels,
        };
        scene.items.push(Item::Image { area, pixels });
        let axis = Axis {
            name: String::new(),
            range: self.ends,
            scale: self.scale,
            counts: false,
        };
        for (place, text) in axis.marks(8) {
            let at = area.bottom() - place * area.height;
            let right = area.right();
            scene.line(vec![(right, at), (right + 4.0, at)], INK);
            scene.text((right + 8.0, at), text, Anchor::Start);
        }
        self.legend(scene, area);
    }

    /// Draws the legend of non-finite colors, if there are any.
    fn legend(&self, scene: &mut Scene, beside: Area) {
        let seen = self.tile.flags.iter().fold(0, |all, flags| all | flags);
        let kinds = [
            (NAN, "NaN", NOT_A_NUMBER),
            (POSITIVE, "inf", POSITIVE_INFINITY),
            (NEGATIVE, "-inf", NEGATIVE_INFINITY),
        ];
        let mut top = beside.bottom() + 12.0;
        for (_, text, color) in kinds.into_iter().filter(|(flag, ..)| seen & flag != 0) {
            let area = Area {
                left: beside.left,
                top,
                width: 10.0,
                height: 10.0,
            };
            scene.rect(area, color);
            scene.text((area.right() + 6.0, top + 5.0), text, Anchor::Start);
            top += 14.0;
        }
    }
}
