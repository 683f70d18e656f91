//! Line plots of rows.

use tenfold::Result;

use super::Drawing;
use super::axes::{Axis, field, frame};
use super::heatmap::whole;
use super::scene::{Area, Scene};
use crate::image::{ColorMap, Line, Lines, Region, Rgb, Scale, TensorView, float, lines, wide};

/// Most rows that can be told apart.
const MOST_LINES: u64 = 6;

pub(super) fn draw(drawing: &Drawing, subject: &TensorView) -> Result<Scene> {
    let mut scene = Scene::new(drawing.options.size, &drawing.title);
    let area = field(&scene, false);
    let (axis, found) = along_last(drawing, subject, whole(area.width))?;
    let region = drawing.region(subject)?;
    let ends = ends(drawing, subject, &region, &found)?;
    let size = subject.sizes()?.get(axis).copied().unwrap_or(1);
    let right = Axis::cells(drawing.axis_name(Some(axis)), 0, size);
    let down = Axis {
        name: String::new(),
        range: ends,
        scale: drawing.options.scale,
        counts: false,
    };
    let n_lines = wide(found.lines.len());
    for (number, line) in (0..).zip(&found.lines) {
        let picture = Curve {
            area,
            first: &found.first,
            size,
            ends,
            scale: drawing.options.scale,
        };
        picture.draw(&mut scene, line, color(number, n_lines));
    }
    frame(&mut scene, area, &down, &right, true);
    Ok(scene)
}

/// The horizontal axis, and the first rows along it.
pub(super) fn along_last(
    drawing: &Drawing,
    subject: &TensorView,
    buckets: u64,
) -> Result<(usize, Lines)> {
    let sizes = subject.sizes()?;
    if sizes.is_empty() {
        // A scalar is drawn as a row of one.
        let dims = vec![tenfold::Dim::indexed(1)];
        let values = drawing.tensor.dense(tenfold::Order::Row, &drawing.limits)?;
        let order = tenfold::Order::Row;
        let storage = tenfold::Storage::Dense { order, values };
        let row = tenfold::Tensor::new(dims, drawing.tensor.dtype(), vec![], storage)?;
        let part = crate::image::Part::usual(row.dtype());
        let subject = TensorView::new(&row, part, &drawing.limits)?;
        let found = lines(&subject, 0, &(0..1), &[vec![0]], 1, &Drawing::stop())?;
        return Ok((0, found));
    }
    let axis = sizes.len().saturating_sub(1);
    let size = sizes.get(axis).copied().unwrap_or(0);
    let before = axis.checked_sub(1);
    let rows = before
        .and_then(|axis| sizes.get(axis))
        .map_or(1, |rows| *rows);
    let through = (0..rows.min(MOST_LINES)).map(|row| {
        let mut at = vec![0; sizes.len()];
        if let Some(place) = before.and_then(|axis| at.get_mut(axis)) {
            *place = row;
        }
        at
    });
    let through: Vec<Vec<u64>> = through.collect();
    if through.is_empty() {
        let nothing = Lines {
            first: Vec::new(),
            lines: Vec::new(),
            is_exact: true,
        };
        return Ok((axis, nothing));
    }
    let found = lines(
        subject,
        axis,
        &(0..size),
        &through,
        buckets,
        &Drawing::stop(),
    )?;
    Ok((axis, found))
}

/// The range of all lines.
pub(super) fn ends(
    drawing: &Drawing,
    subject: &TensorView,
    region: &Region,
    found: &Lines,
) -> Result<(f64, f64)> {
    let all = |of: fn(&Line) -> &Vec<Option<f64>>| {
        let numbers = found.lines.iter().flat_map(of);
        numbers.copied().flatten().collect::<Vec<f64>>()
    };
    let low = all(|line| &line.min).into_iter().reduce(f64::min);
    let high = all(|line| &line.max).into_iter().reduce(f64::max);
    let (low, high) = match (low.unwrap_or(0.0), high.unwrap_or(1.0)) {
        // A constant line is drawn in the middle.
        (low, high) if low == high => (low - 1.0, high + 1.0),
        ends => ends,
    };
    match drawing.options.range {
        Some(_) => drawing.options.ends(subject, region, (low, high)),
        None => Ok((low, high)),
    }
}

/// The color of a line, distinguishable also under color vision deficiency.
fn color(number: u64, of: u64) -> Rgb {
    let place = float(number) / float(of.max(2).saturating_sub(1));
    ColorMap::Viridis.color(place * 0.85)
}

/// The area of a line.
struct Curve<'a> {
    area: Area,
    first: &'a [u64],
    size: u64,
    ends: (f64, f64),
    scale: Scale,
}

impl Curve<'_> {
    fn draw(&self, scene: &mut Scene, line: &Line, color: Rgb) {
        let pale = color.map(|byte| byte.saturating_add((u8::MAX - byte) / 3 * 2));
        let x = |first: u64| {
            let place = (float(first) + 0.5) / float(self.size.max(1));
            self.area.left + place * self.area.width
        };
        let y = |number: f64| {
            self.area.bottom() - self.scale.place(number, self.ends) * self.area.height
        };
        let between = self.first.iter().zip(line.min.iter().zip(&line.max));
        for (first, ends) in between {
            if let (Some(min), Some(max)) = ends
                && min < max
            {
                let at = x(*first);
                scene.line(vec![(at, y(*min)), (at, y(*max))], pale);
            }
        }
        // Gaps at NaN.
        let mut points = Vec::new();
        for (first, mean) in self.first.iter().zip(&line.mean) {
            match mean {
                Some(mean) => points.push((x(*first), y(*mean))),
                None => scene.line(std::mem::take(&mut points), color),
            }
        }
        scene.line(points, color);
    }
}
