//! Reads files of integrals, in file order.
#![deny(clippy::arithmetic_side_effects)]

use super::folding::{Clash, Each, Folded, Folding, List, Outcome, Walk};
use super::integrals::{Fold, Places, Role, dtype};
use super::namelist::Namelist;
use crate::bundle::Bundle;
use crate::bytes::{Bytes, to_u64};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::format::ReadOptions;
use crate::hint::Hint;
use crate::io::{Source, Spool};
use crate::key::Key;
use crate::limits::Limits;
use crate::note::{Note, NoteKind};
use crate::tensor::{Address, Dim, Duplicates, Order, Storage, Tensor};
use crate::units::measure_text;
use crate::wire::text::{
    Body, Cells, Field, Line, Lines, Piece, line_number, parse_lines, with_line,
};

pub(super) fn read(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    with_line(source, read_text(source, how))
}

fn read_text(source: &Source, how: &ReadOptions) -> Result<Bundle> {
    let mut lines = Lines::new(source, &how.limits);
    let namelist = Namelist::read(&mut lines, source)?;
    let body = Body {
        from: lines.at(),
        comment: None,
    };
    let first = lines.next_full()?;
    let is_complex = first.is_some_and(|line| line.text.trim_ascii_start().starts_with(b"("));
    let dtype = dtype(is_complex);
    let choices = [("8", Fold::Eight), ("4", Fold::Four), ("none", Fold::None)];
    let asked = how.options.choose("symmetry", &choices)?;
    let integrals = Integrals {
        places: Places {
            norb: namelist.norb,
        },
        dtype,
        is_complex,
        fold: asked.unwrap_or_else(|| Fold::usual(dtype)),
        is_asked: asked.is_some(),
    };
    let parse = |line: &Line, cells: &mut Cells| integrals.parse(line, cells);
    let walk = |each: &mut Each| {
        let mut cell = 0_u64;
        parse_lines(source, body, parse, |piece: &mut Piece| {
            let places = piece.cells.places.as_chunks::<8>().0.iter();
            for (place, value) in places.zip(piece.cells.values.chunks_exact(dtype.width())) {
                each(cell, u64::from_le_bytes(*place), value)?;
                cell = cell.saturating_add(1);
            }
            Ok(())
        })
    };
    let mut bundle = integrals.parted(&walk, source, how)?;
    bundle.meta = namelist.settings;
    Ok(bundle)
}

/// The parser of lines with integrals.
struct Integrals {
    places: Places,
    dtype: DType,
    is_complex: bool,
    fold: Fold,
    /// Whether the symmetries of integrals were requested.
    is_asked: bool,
}

impl Integrals {
    fn parse(&self, line: &Line, cells: &mut Cells) -> Result<()> {
        let mut fields = line.fields();
        if self.is_complex {
            for part in fields.pair()? {
                cells.values.extend_from_slice(&float(&part)?.to_le_bytes());
            }
        } else {
            let value = float(&fields.need("a value")?)?;
            cells.values.extend_from_slice(&value.to_le_bytes());
        }
        let norb = self.places.norb;
        let mut orbitals = [0; 4];
        for orbital in &mut orbitals {
            let field = fields.need("four orbitals")?;
            *orbital = field.whole()?;
            if *orbital > norb {
                let why = format!("orbital {orbital} of {norb}");
                return Err(Error::malformed(field.at, why));
            }
        }
        fields.end()?;
        let role = match orbitals {
            [0, 0, 0, 0] => Role::Core,
            [_, 0, 0, 0] => Role::Energies,
            [i, j, 0, 0] if i > 0 && j > 0 => Role::One,
            all if !all.contains(&0) => Role::Two,
            [i, j, k, l] => {
                let why = format!("{i} {j} {k} {l} are the orbitals of no integral");
                return Err(Error::malformed(line.at, why));
            }
        };
        let index = orbitals.map(|orbital| orbital.saturating_sub(1));
        let index = index.get(..role.ndim()).unwrap_or_default();
        cells.place(self.places.number(role, index));
        cells.count = cells.count.saturating_add(1);
        Ok(())
    }

    /// Distributes the cells to the tensors.
    fn parted(&self, walk: &Walk, source: &Source, how: &ReadOptions) -> Result<Bundle> {
        let limits = &how.limits;
        let mut parts: Vec<Part> = Role::ALL.map(|role| Part::new(role, limits)).into();
        walk(&mut |cell, number, element| {
            let each = to_u64(element.len()).saturating_add(8);
            let all = cell.saturating_add(1).saturating_mul(each);
            limits.check_decoded("text would become numbers", all)?;
            let (role, place) = self.places.find(number);
            match parts.iter_mut().find(|part| part.role == role) {
                Some(part) => part.push(place, element),
                None => Ok(()),
            }
        })?;
        let mut bundle = Bundle::new();
        for part in parts {
            let role = part.role;
            let is_always_there = matches!(role, Role::Two | Role::One);
            if is_always_there || part.count > 0 {
                let name = Key::flat(role.name());
                // Cells that neither fit in memory nor are spooled are in the text alone.
                let is_counted = part.places.is_counted() || part.values.is_counted();
                let of_role = |each: &mut Each| {
                    let mut own = 0_u64;
                    walk(&mut |_, number, element| {
                        let (found, place) = self.places.find(number);
                        if found == role {
                            each(own, place, element)?;
                            own = own.saturating_add(1);
                        }
                        Ok(())
                    })
                };
                let of_role: Option<&Walk> = if is_counted { Some(&of_role) } else { None };
                let folding = self.folding(part, of_role, limits)?;
                let (outcome, merged) = resolve(folding, how.duplicates)?;
                let folded = match outcome {
                    Ok(folded) => folded,
                    // After merging, cells no longer correspond to lines.
                    Err(clash) if merged > 0 => return Err(contradicts(&clash, None)),
                    Err(clash) => {
                        return Err(self.contradiction(role, &clash, walk, source, limits)?);
                    }
                };
                if merged > 0 {
                    let text =
                        format!("integrals that are listed more than once: {merged} resolved");
                    bundle.note(Note::new(NoteKind::Summed, text).on(&name));
                }
                if let Some(remark) = &folded.remark {
                    bundle.note(Note::new(NoteKind::Repaired, remark).on(&name));
                }
                bundle.add(name, self.tensor(role, folded, limits)?, limits)?;
            }
        }
        Ok(bundle)
    }

    fn folding<'a>(
        &self,
        part: Part,
        text: Option<&'a Walk<'a>>,
        limits: &'a Limits,
    ) -> Result<Folding<'a>> {
        let role = part.role;
        if role == Role::Core && part.count > 1 {
            let why = "the energy of the core is given twice, as in files of unrestricted \
                       orbitals, which are not read";
            return Err(Error::malformed(None, why));
        }
        Ok(Folding {
            symmetries: self.fold.symmetries(role, self.dtype)?,
            is_asked: self.is_asked,
            sizes: vec![self.places.norb; role.ndim()],
            largest: part.largest,
            list: List {
                places: Bytes::whole(part.places.finish_apart()?),
                values: Bytes::whole(part.values.finish_apart()?),
                dtype: self.dtype,
                text,
            },
            limits,
        })
    }

    fn tensor(&self, role: Role, folded: Folded, limits: &Limits) -> Result<Tensor> {
        let (order, values) = (Order::Column, folded.list.values());
        let storage = match role {
            Role::Core => Storage::Dense { order, values },
            Role::Two | Role::One | Role::Energies => Storage::Sparse {
                order,
                address: Address::Linear(folded.list.places()),
                values,
            },
        };
        let dims = vec![Dim::indexed(self.places.norb); role.ndim()];
        Tensor::within(dims, self.dtype, folded.symmetries, storage, limits)
    }

    /// Two contradictory lines, as an error at the later one.
    fn contradiction(
        &self,
        role: Role,
        clash: &Clash,
        walk: &Walk,
        source: &Source,
        limits: &Limits,
    ) -> Result<Error> {
        let (mut own, mut cells) = (0_u64, (0, 0));
        walk(&mut |cell, number, _| {
            if self.places.find(number).0 == role {
                if own == clash.cells.0 {
                    cells.0 = cell;
                }
                if own == clash.cells.1 {
                    cells.1 = cell;
                }
                own = own.saturating_add(1);
            }
            Ok(())
        })?;
        let earlier = line_number(source, start_of(source, cells.0, limits)?)?;
        let at = start_of(source, cells.1, limits)?;
        Ok(contradicts(clash, Some(earlier)).or_at(Some(at)))
    }
}

/// Resolves integrals that are listed more than once by a rule, and determines which images are
/// listed; also returns the number of values removed.
fn resolve(folding: Folding<'_>, rule: Option<Duplicates>) -> Result<(Outcome<'_>, u64)> {
    let Some(rule) = rule.filter(|_| !folding.sizes.is_empty()) else {
        return Ok((folding.find()?, 0));
    };
    let (folding, mut merged) = folding.resolved(rule, Vec::new())?;
    let mut outcome = folding.clone().find()?;
    if outcome.is_err() && rule == Duplicates::Last {
        let symmetries = folding.symmetries.clone();
        let (folding, more) = folding.resolved(rule, symmetries)?;
        merged = merged.saturating_add(more);
        outcome = folding.find()?;
    }
    Ok((outcome, merged))
}

/// The error of two contradictory integrals, with the line of the earlier one.
fn contradicts(clash: &Clash, earlier: Option<u64>) -> Error {
    let line = earlier.map_or_else(String::new, |line| format!(" on line {line}"));
    let why = match clash.apart {
        None => format!("the integral, or an image of it, is listed{line} already"),
        Some(apart) => format!(
            "the integral differs from its image{line} by {}, the largest is {}",
            measure_text(apart, 2),
            measure_text(clash.largest, 2),
        ),
    };
    Error::malformed(None, why).with_hint(Hint::Duplicates {
        sum: clash.is_repeated,
    })
}

/// The offset of the line of a cell.
fn start_of(source: &Source, cell: u64, limits: &Limits) -> Result<u64> {
    let mut lines = Lines::new(source, limits);
    Namelist::read(&mut lines, source)?;
    for _ in 0..cell {
        lines.next_full()?;
    }
    let line = lines.next_full()?;
    Ok(line.map_or(source.len(), |line| line.at))
}

/// The cells of one tensor.
struct Part {
    role: Role,
    places: Spool,
    values: Spool,
    count: u64,
    /// The largest magnitude of all values.
    largest: f64,
}

impl Part {
    fn new(role: Role, limits: &Limits) -> Part {
        Part {
            role,
            places: Spool::of_text(limits),
            values: Spool::of_text(limits),
            count: 0,
            largest: 0.0,
        }
    }

    fn push(&mut self, place: u64, element: &[u8]) -> Result<()> {
        self.count = self.count.saturating_add(1);
        for number in element.as_chunks::<8>().0 {
            let magnitude = f64::from_le_bytes(*number).abs();
            if magnitude.is_finite() {
                self.largest = self.largest.max(magnitude);
            }
        }
        self.places.write(&place.to_le_bytes())?;
        self.values.write(element)
    }
}

/// A number in Fortran's notation: its exponent may begin with D.
fn float(field: &Field) -> Result<f64> {
    field.float().or_else(|error| {
        let Some(place) = field
            .text
            .iter()
            .position(|byte| matches!(byte, b'd' | b'D'))
        else {
            return Err(error);
        };
        let mut text = field.text.to_vec();
        if let Some(letter) = text.get_mut(place) {
            *letter = b'e';
        }
        let again = Field {
            at: field.at,
            text: &text,
        };
        again.float().map_err(|_| error)
    })
}
