//! The lines before the entries.
#![deny(clippy::arithmetic_side_effects)]

use super::{EXTENDED, SHAPE};
use crate::bytes::{to_u64, to_usize};
use crate::error::Result;
use crate::io::Source;
use crate::limits::Limits;
use crate::wire::text::{Fields, Line, Lines, cut};

/// The two lines of the extended format.
pub(super) struct Extended {
    pub(super) sizes: Vec<u64>,
    /// The number of entries.
    pub(super) count: u64,
}

impl Extended {
    /// Reads the lines if they exist: if a comment says so, or they look like it.
    pub(super) fn find(
        lines: &mut Lines,
        is_said: bool,
        source: &Source,
        limits: &Limits,
    ) -> Result<Option<Extended>> {
        let from = lines.at();
        let is_there = is_said || looks_extended(lines)?;
        lines.back_to(from);
        if is_there {
            Extended::read(lines, source, limits).map(Some)
        } else {
            Ok(None)
        }
    }

    fn read(lines: &mut Lines, source: &Source, limits: &Limits) -> Result<Extended> {
        let first = lines.next_full()?;
        let first = first.ok_or_else(|| cut(source, "the number of dimensions"))?;
        let mut fields = first.fields();
        let field = fields.need("the number of dimensions")?;
        let rank = field.whole()?;
        if rank == 0 {
            return Err(field.wrong("dimensions, where an entry needs an index"));
        }
        limits.check_ndim(rank)?;
        let count = fields.need("the number of entries")?.whole()?;
        fields.end()?;
        let second = lines.next_full()?;
        let second = second.ok_or_else(|| cut(source, "the sizes"))?;
        let mut fields = second.fields();
        let sizes = sizes(&mut fields, rank)?;
        fields.end()?;
        Ok(Extended { sizes, count })
    }
}

/// As many sizes as there are dimensions.
fn sizes(fields: &mut Fields, rank: u64) -> Result<Vec<u64>> {
    let mut sizes = Vec::new();
    for _ in 0..rank {
        sizes.push(fields.need("the size of a dimension")?.whole()?);
    }
    Ok(sizes)
}

/// Whether the next lines are those of the extended format and an entry, if any is declared.
fn looks_extended(lines: &mut Lines) -> Result<bool> {
    let first = lines.next_full()?;
    let Some([rank, count]) = first
        .and_then(|line| whole_numbers(&line, 2))
        .as_deref()
        .and_then(|numbers| numbers.first_chunk().copied())
    else {
        return Ok(false);
    };
    let Ok(n_sizes) = to_usize(rank) else {
        return Ok(false);
    };
    let second = lines.next_full()?;
    if rank == 0
        || second
            .and_then(|line| whole_numbers(&line, n_sizes))
            .is_none()
    {
        return Ok(false);
    }
    if rank != 2 {
        return Ok(true); // a plain file would have one index, and then two fields a line
    }
    let third = loop {
        let line = lines.next_full()?;
        match line {
            Some(line) if line.text.first() == Some(&b'#') => {}
            line => break line.map(|line| line.fields().take(4).count()),
        }
    };
    Ok(match third {
        Some(fields) => fields == 3,
        None => count == 0,
    })
}

/// The numbers on a line, if there are `count` of them, all integers.
fn whole_numbers(line: &Line, count: usize) -> Option<Vec<u64>> {
    let fields = line.fields().take(count.saturating_add(1));
    let numbers: Option<Vec<u64>> = fields.map(|field| field.whole().ok()).collect();
    numbers.filter(|numbers| numbers.len() == count)
}

/// Comments that concern the reader.
#[derive(Default)]
pub(super) struct Said {
    /// Whether there is a header.
    pub(super) extended: bool,
    /// The sizes.
    pub(super) sizes: Option<Vec<u64>>,
}

impl Said {
    /// Interprets a comment; returns whether it is irrelevant to users.
    pub(super) fn hear(&mut self, line: &Line, said: &[u8], limits: &Limits) -> Result<bool> {
        self.extended |= is_extended(said);
        let mut fields = line.fields();
        for word in SHAPE {
            if fields.next().is_none_or(|field| field.text != word) {
                return Ok(false);
            }
        }
        let rank = to_u64(fields.clone().count());
        limits.check_ndim(rank)?;
        if rank == 0 {
            fields.need("the size of a dimension")?;
        }
        self.sizes = Some(sizes(&mut fields, rank)?);
        Ok(true)
    }
}

/// Whether a comment declares a header.
pub(super) fn is_extended(said: &[u8]) -> bool {
    said.trim_ascii().eq_ignore_ascii_case(EXTENDED)
}
