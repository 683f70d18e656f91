//! Tiled transposition of narrow elements, also for small dimensions.
//!
//! A plane has two directions: across, in which elements are contiguous in the source, and along,
//! in which they are contiguous in the output. Each direction is one dimension, or as many as it
//! takes to fill a tile. A tile is copied into a small buffer in runs of the source, then written
//! in runs of the output. That way each cache line is touched once on either side, and the strides
//! between rows, often a power of two, which map to the same cache sets, cannot evict the tile from
//! the cache.

use super::gather::{Axis, outside};
use crate::bytes::swap;
use crate::error::Result;
use crate::io::par_for_each;

/// A dimension: its size, and its byte strides on either side.
#[derive(Debug, Clone, Copy)]
struct Line {
    count: usize,
    from: usize,
    to: usize,
}

/// Elements of a source and their dimensions in the output, the last varying fastest.
#[derive(Clone, Copy)]
pub(super) struct Elements<'a> {
    pub(super) source: &'a [u8],
    pub(super) start: usize,
    /// Width of the numbers that are byte-swapped on the way; 1 for none.
    pub(super) reversed: usize,
    pub(super) axes: &'a [Axis],
}

/// Equally long ranges of the output that one thread fills, addressed as if they were consecutive.
struct Stretches<'a> {
    all: Vec<&'a mut [u8]>,
    len: usize,
}

impl Stretches<'_> {
    fn run(&mut self, at: usize, len: usize) -> Result<&mut [u8]> {
        let stretch = self.all.get_mut(at / self.len).ok_or_else(outside)?;
        let rest = stretch.get_mut(at % self.len..).ok_or_else(outside)?;
        rest.get_mut(..len).ok_or_else(outside)
    }
}

/// Most offsets listed for a direction of several dimensions.
const LISTED: usize = 4096;

/// Fills `out` with all elements, in tiles of `ACROSS` by `ALONG`, on so many threads.
///
/// The threads divide a dimension that is in neither direction, so that no two read the same cache
/// line of the source. Their output is then not contiguous.
pub(super) fn fill<const WIDTH: usize, const ACROSS: usize, const ALONG: usize>(
    elements: Elements,
    threads: usize,
    out: &mut [u8],
) -> Result<bool> {
    let axes = elements.axes;
    let Some((place, stretches)) = shared_axis(axes, ACROSS, ALONG, threads) else {
        return Ok(false);
    };
    let shared = axes.get(place).copied().ok_or_else(outside)?;
    let places = shared.count.div_ceil(threads * 4);
    let inner = axes.iter().skip(place + 1).map(|axis| axis.count);
    let inner = inner.product::<usize>() * WIDTH;
    let mut shares: Vec<Vec<&mut [u8]>> = Vec::new();
    shares.resize_with(shared.count.div_ceil(places), || {
        Vec::with_capacity(stretches)
    });
    for stretch in out.chunks_mut(shared.count * inner) {
        for (share, part) in shares.iter_mut().zip(stretch.chunks_mut(places * inner)) {
            share.push(part);
        }
    }
    par_for_each(threads, shares.into_iter().enumerate(), |(number, all)| {
        let first = number * places;
        let mut own = axes.to_vec();
        if let Some(axis) = own.get_mut(place) {
            axis.count = places.min(shared.count - first);
        }
        let part = Elements {
            start: elements.start + first * shared.step,
            axes: &own,
            ..elements
        };
        let len = all.first().map_or(0, |stretch| stretch.len());
        fill_alone::<WIDTH, ACROSS, ALONG>(part, Stretches { all, len })
    })?;
    Ok(true)
}

/// Fills `out` on this thread.
pub(super) fn fill_one<const WIDTH: usize, const ACROSS: usize, const ALONG: usize>(
    elements: Elements,
    out: &mut [u8],
) -> Result<()> {
    let len = out.len().max(1);
    let all = vec![out];
    fill_alone::<WIDTH, ACROSS, ALONG>(elements, Stretches { all, len })
}

fn fill_alone<const WIDTH: usize, const ACROSS: usize, const ALONG: usize>(
    elements: Elements,
    mut out: Stretches,
) -> Result<()> {
    let lines = lines(elements.axes, WIDTH);
    let mut tile = vec![[0; WIDTH]; ACROSS * ALONG];
    let planes = planes(&lines, ACROSS, ALONG).ok_or_else(outside)?;
    for planes in planes {
        let plane = Plane::<WIDTH, ACROSS, ALONG> {
            elements,
            across: Across::new(&planes.across, WIDTH, ACROSS),
            along: Places::of(&planes.along, |line| line.from),
            n_along: planes.along.iter().map(|line| line.count).product(),
        };
        let start = (elements.start + planes.from, planes.to);
        each_pair(&planes.outer, start, &mut |(from, to)| {
            plane.fill(from, to, &mut tile, &mut out)
        })?;
    }
    Ok(())
}

/// The dimensions with their strides in a contiguous output.
fn lines(axes: &[Axis], width: usize) -> Vec<Line> {
    let mut to = width;
    let lines = axes.iter().rev().map(|axis| {
        let line = Line {
            count: axis.count,
            from: axis.step,
            to,
        };
        to *= axis.count;
        line
    });
    let mut lines: Vec<Line> = lines.collect();
    lines.reverse();
    lines
}

/// The dimension divided among threads, and the number of output ranges that each then fills.
fn shared_axis(
    axes: &[Axis],
    across: usize,
    along: usize,
    threads: usize,
) -> Option<(usize, usize)> {
    /// Listing more would take longer than the threads save.
    const STRETCHES: usize = 1 << 16;
    let lines = lines(axes, 1);
    let planes = planes(&lines, across, along)?;
    let is_left = |line: &Line| {
        planes.first().is_some_and(|first| {
            let mut outer = first.outer.iter();
            // Also a dimension of which a direction has taken a part.
            outer.any(|outer| outer.to >= line.to && outer.to < line.to * line.count.max(1))
        })
    };
    let mut stretches = 1_usize;
    for (place, line) in lines.iter().enumerate() {
        if line.count >= threads * 2 && is_left(line) {
            return Some((place, stretches));
        }
        stretches = stretches
            .checked_mul(line.count)
            .filter(|many| *many <= STRETCHES)?;
    }
    None
}

/// Planes that differ only in their offsets.
#[derive(Debug, Clone)]
struct Planes {
    from: usize,
    to: usize,
    /// Fastest of the source first.
    across: Vec<Line>,
    /// Fastest of the output last.
    along: Vec<Line>,
    outer: Vec<Line>,
}

/// Assigns dimensions to directions. `None` if the fastest dimension of the source is that of the
/// output.
fn planes(lines: &[Line], across: usize, along: usize) -> Option<Vec<Planes>> {
    let (last, rest) = lines.split_last()?;
    let mut rest = rest.to_vec();
    let places = rest.iter().enumerate();
    let (fastest, line) = places.min_by_key(|(_, line)| line.from)?;
    if line.from >= last.from {
        return None;
    }
    let first = rest.remove(fastest);
    let mut found = vec![Planes {
        from: 0,
        to: 0,
        across: vec![first],
        along: vec![*last],
        outer: rest,
    }];
    grow(&mut found, across, |planes| {
        let (place, _) = { planes.outer.iter().enumerate() }.min_by_key(|(_, line)| line.from)?;
        Some((Side::Across, place))
    });
    grow(&mut found, along, |planes| {
        let first = planes.along.first()?;
        let next = first.to * first.count;
        let place = planes.outer.iter().position(|line| line.to == next)?;
        Some((Side::Along, place))
    });
    Some(found)
}

#[derive(Clone, Copy)]
enum Side {
    Across,
    Along,
}

impl Planes {
    fn side(&mut self, side: Side) -> &mut Vec<Line> {
        match side {
            Side::Across => &mut self.across,
            Side::Along => &mut self.along,
        }
    }
}

/// Adds dimensions to a direction until it has so many elements; of a long one only a part, so that
/// the rest may form planes of its own.
fn grow(found: &mut Vec<Planes>, goal: usize, next: impl Fn(&Planes) -> Option<(Side, usize)>) {
    let mut done = Vec::new();
    while let Some(mut planes) = found.pop() {
        let Some((side, place)) = next(&planes) else {
            done.push(planes);
            continue;
        };
        let places: usize = planes.side(side).iter().map(|line| line.count).product();
        if places >= goal {
            done.push(planes);
            continue;
        }
        let line = planes.outer.remove(place);
        let wanted = goal.div_ceil(places.max(1));
        let (taken, left) = if line.count > wanted * 2 || line.count * places > LISTED {
            (wanted.min(line.count), line.count % wanted)
        } else {
            (line.count, 0)
        };
        if left > 0 {
            let whole = line.count - left;
            let mut others = planes.clone();
            others.from += whole * line.from;
            others.to += whole * line.to;
            let rest = Line {
                count: left,
                ..line
            };
            add(others.side(side), side, rest);
            done.push(others);
        }
        if line.count / taken > 1 {
            planes.outer.push(Line {
                count: line.count / taken,
                from: line.from * taken,
                to: line.to * taken,
            });
        }
        let part = Line {
            count: taken,
            ..line
        };
        add(planes.side(side), side, part);
        found.push(planes);
    }
    *found = done;
}

fn add(lines: &mut Vec<Line>, side: Side, line: Line) {
    match side {
        Side::Across => lines.push(line),
        Side::Along => lines.insert(0, line),
    }
}

/// Offsets of the elements of a direction, relative to the first.
enum Places {
    Apart(usize),
    CooBuilder(Vec<usize>),
}

impl Places {
    /// The offsets over some dimensions, the last varying fastest.
    fn of(lines: &[Line], distance: impl Fn(&Line) -> usize) -> Places {
        if let [line] = lines {
            return Places::Apart(distance(line));
        }
        let mut listed = vec![0];
        for line in lines {
            let step = distance(line);
            listed = listed
                .iter()
                .flat_map(|at| (0..line.count).map(move |place| at + place * step))
                .collect();
        }
        Places::CooBuilder(listed)
    }

    fn at(&self, place: usize) -> usize {
        match self {
            Places::Apart(step) => place * step,
            Places::CooBuilder(listed) => listed.get(place).copied().unwrap_or(usize::MAX),
        }
    }
}

/// The direction in which the source is contiguous.
struct Across {
    count: usize,
    /// Number of contiguous elements in the source.
    run: usize,
    /// Elements taken at a time: whole runs, or a part of one.
    chunk: usize,
    from: Places,
    to: Places,
}

impl Across {
    fn new(lines: &[Line], width: usize, most: usize) -> Across {
        let count = lines.iter().map(|line| line.count).product();
        let mut run = 1;
        for line in lines {
            if line.from != run * width {
                break;
            }
            run *= line.count;
        }
        let chunk = if run >= most { most } else { most / run * run };
        let slowest_first: Vec<Line> = lines.iter().rev().copied().collect();
        Across {
            count,
            run,
            chunk,
            from: Places::of(&slowest_first, |line| line.from),
            to: Places::of(&slowest_first, |line| line.to),
        }
    }
}

/// Two directions: that of the source, and that of the output.
struct Plane<'a, const WIDTH: usize, const ACROSS: usize, const ALONG: usize> {
    elements: Elements<'a>,
    across: Across,
    along: Places,
    n_along: usize,
}

impl<const WIDTH: usize, const ACROSS: usize, const ALONG: usize> Plane<'_, WIDTH, ACROSS, ALONG> {
    fn fill(
        &self,
        from: usize,
        to: usize,
        tile: &mut [[u8; WIDTH]],
        out: &mut Stretches,
    ) -> Result<()> {
        for first_across in (0..self.across.count).step_by(self.across.chunk) {
            let n_across = self.across.chunk.min(self.across.count - first_across);
            for first_along in (0..self.n_along).step_by(ALONG) {
                let n_along = ALONG.min(self.n_along - first_along);
                let rows = tile.get_mut(..n_along * ACROSS).ok_or_else(outside)?;
                for (row, place) in rows.chunks_exact_mut(ACROSS).zip(first_along..) {
                    let row = row.get_mut(..n_across).ok_or_else(outside)?;
                    self.load(from + self.along.at(place), first_across, row)?;
                }
                if self.elements.reversed > 1 {
                    swap(rows.as_flattened_mut(), self.elements.reversed);
                }
                let to = to + first_along * WIDTH;
                self.store(to, (first_across, n_across), n_along, rows, out)?;
            }
        }
        Ok(())
    }

    /// Copies runs of the source into a row of the tile.
    fn load(&self, from: usize, first: usize, row: &mut [[u8; WIDTH]]) -> Result<()> {
        let run = self.across.run.min(ACROSS);
        let mut place = first;
        for part in row.chunks_mut(run) {
            let at = from + self.across.from.at(place);
            let source = self.elements.source.get(at..).ok_or_else(outside)?;
            let source = source.get(..part.len() * WIDTH).ok_or_else(outside)?;
            part.as_flattened_mut().copy_from_slice(source);
            place += part.len();
        }
        Ok(())
    }

    /// Writes the columns of the tile as runs of the output.
    fn store(
        &self,
        to: usize,
        (first_across, n_across): (usize, usize),
        n_along: usize,
        rows: &[[u8; WIDTH]],
        out: &mut Stretches,
    ) -> Result<()> {
        for column in 0..n_across {
            let at = to + self.across.to.at(first_across + column);
            let run = out.run(at, n_along * WIDTH)?;
            let (run, _) = run.as_chunks_mut::<WIDTH>();
            let column = rows.get(column..).ok_or_else(outside)?;
            for (target, element) in run.iter_mut().zip(column.iter().step_by(ACROSS)) {
                *target = *element;
            }
        }
        Ok(())
    }
}

/// Calls `each` with the offset of every plane, in the source and in the output.
fn each_pair(
    lines: &[Line],
    (from, to): (usize, usize),
    each: &mut dyn FnMut((usize, usize)) -> Result<()>,
) -> Result<()> {
    let Some((line, inner)) = lines.split_first() else {
        return each((from, to));
    };
    for place in 0..line.count {
        let start = (from + place * line.from, to + place * line.to);
        each_pair(inner, start, each)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::gather::Gather;
    use super::*;
    use crate::io::Threads;

    /// Gathers the dimensions `sizes` of a source that stores them in the order `stored`, the
    /// fastest last, and compares every element with its computed position.
    fn check(width: usize, sizes: &[usize], stored: &[usize], threads: usize) {
        let len = sizes.iter().product::<usize>() * width;
        let source: Vec<u8> = (0..len)
            .map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()[2])
            .collect();
        let mut axes = vec![Axis { count: 0, step: 0 }; sizes.len()];
        let mut step = width;
        for axis in stored.iter().rev() {
            let count = sizes[*axis];
            axes[*axis] = Axis { count, step };
            step *= count;
        }
        let mut out = vec![0; len];
        let gather = Gather::new(&source, 0, width, 1, axes.clone()).unwrap();
        gather.fill(&mut out, Threads::Exactly(threads)).unwrap();
        for (cell, element) in out.chunks_exact(width).enumerate() {
            let (mut rest, mut at) = (cell, 0);
            for axis in axes.iter().rev() {
                at += rest % axis.count * axis.step;
                rest /= axis.count;
            }
            assert_eq!(
                element,
                &source[at..at + width],
                "{sizes:?} {stored:?} {cell}"
            );
        }
    }

    #[test]
    fn small_long_and_many_dimensions_are_gathered_whatever_the_threads() {
        let many: &[&[usize]] = &[
            &[300, 290],
            &[3, 1001, 5],
            &[5, 7, 3, 11, 4],
            &[2; 13],
            &[1, 40, 1, 130, 3],
            &[131, 2, 67],
            &[17, 3, 2, 150],
        ];
        let few: &[&[usize]] = &[&[9, 3, 2, 20]];
        for sizes in if cfg!(miri) { few } else { many } {
            let backwards: Vec<usize> = (0..sizes.len()).rev().collect();
            let mut turned = backwards.clone();
            turned.rotate_left(1);
            let mut swapped: Vec<usize> = (0..sizes.len()).collect();
            swapped.swap(0, sizes.len() - 1);
            for stored in [&backwards, &turned, &swapped] {
                for (width, threads) in [(1, 1), (2, 2), (4, 3), (8, 2), (16, 1), (24, 2)] {
                    check(width, sizes, stored, threads);
                }
            }
        }
    }
}
