//! Reads files of integrals, in file order.
#![deny(clippy::arithmetic_side_effects)]

use super::integrals::{Closure, Fold, Places, Role, dtype};
use super::namelist::Namelist;
use crate::bundle::Bundle;
use crate::bytes::{Bytes, Endian, Source, Spool, narrow, wide};
use crate::error::{Error, Result};
use crate::format::ReadOptions;
use crate::key::Key;
use crate::limits::Limits;
use crate::note::{Note, NoteKind};
use crate::number::{DType, Number, Numbers};
use crate::tensor::{Address, Dim, Order, Storage, Tensor};
use crate::wire::text::{Body, Cells, Field, Line, Lines, Table, with_line};

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
    let table = Table::read(source, body, None, &how.limits, parse)?;
    let mut bundle = integrals.parted(table, &how.limits)?;
    bundle.meta = namelist.settings;
    Ok(bundle)
}

/// What the lines of integrals are read with.
struct Integrals {
    places: Places,
    dtype: DType,
    is_complex: bool,
    fold: Fold,
    /// Whether somebody said which integrals stand for others.
    is_asked: bool,
}

/// How many cells are looked at at once.
const BATCH: u64 = 4096;

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

    /// Gives every tensor its cells.
    fn parted(&self, table: Table, limits: &Limits) -> Result<Bundle> {
        let (places, values) = table.finish()?;
        let width = self.dtype.width();
        let count = places.len() / 8;
        let mut parts = Vec::new();
        for role in Role::ALL {
            let symmetries = self.fold.symmetries(role, self.dtype)?;
            let closure = Closure::new(self.places.norb, symmetries);
            parts.push(Part::new(role, closure, limits));
        }
        let (mut numbers, mut elements) = (Vec::new(), Vec::new());
        let mut cell = 0_u64;
        while cell < count {
            let batch = BATCH.min(count.saturating_sub(cell));
            numbers.resize(narrow(batch)?.saturating_mul(8), 0);
            elements.resize(narrow(batch)?.saturating_mul(width), 0);
            places.read_at(cell.saturating_mul(8), &mut numbers)?;
            values.read_at(cell.saturating_mul(wide(width)), &mut elements)?;
            let numbers = numbers.as_chunks::<8>().0.iter();
            for (number, element) in numbers.zip(elements.chunks_exact(width)) {
                let (role, place) = self.places.find(u64::from_le_bytes(*number));
                if let Some(part) = parts.iter_mut().find(|part| part.role == role) {
                    part.push(place, element)?;
                }
            }
            cell = cell.saturating_add(batch);
        }
        let mut bundle = Bundle::new();
        for part in parts {
            let is_always_there = matches!(part.role, Role::Two | Role::One);
            if is_always_there || part.count > 0 {
                let name = Key::flat(part.role.name());
                let (tensor, is_listed) = self.tensor(part, limits)?;
                if is_listed {
                    let text =
                        "integrals that are equal by symmetry are all listed, and kept as they are";
                    bundle.note(Note::new(NoteKind::Repaired, text).on(&name));
                }
                bundle.push(name, tensor);
            }
        }
        Ok(bundle)
    }

    /// A tensor, and whether its list has cells that follow from others.
    fn tensor(&self, part: Part, limits: &Limits) -> Result<(Tensor, bool)> {
        let (role, count) = (part.role, part.count);
        let numbers = |number, spool: Spool| -> Result<Numbers> {
            Ok(Numbers {
                number,
                endian: Endian::Little,
                bytes: Bytes::whole(spool.finish_apart()?),
            })
        };
        let order = Order::Column;
        let values = numbers(Number::F64, part.values)?;
        let storage = match role {
            Role::Core if count > 1 => {
                let why = "the energy of the core is given twice, as in files of unrestricted \
                           orbitals, which are not read";
                return Err(Error::malformed(None, why));
            }
            Role::Core => Storage::Dense { order, values },
            Role::Two | Role::One | Role::Energies => Storage::Sparse {
                order,
                address: Address::Linear(numbers(Number::U64, part.places)?),
                values,
            },
        };
        let dims = vec![Dim::indexed(self.places.norb); role.ndim()];
        let (symmetries, is_listed) = match self.is_asked {
            true => {
                let is_usual = self.fold == Fold::usual(self.dtype);
                let symmetries = self.fold.symmetries(role, self.dtype)?;
                (symmetries, role.ndim() > 1 && !is_usual)
            }
            false => part.closure.finish(),
        };
        let tensor = Tensor::within(dims, self.dtype, symmetries, storage, limits)?;
        Ok((tensor, is_listed))
    }
}

/// The cells of one tensor.
struct Part {
    role: Role,
    places: Spool,
    values: Spool,
    count: u64,
    closure: Closure,
}

impl Part {
    fn new(role: Role, closure: Closure, limits: &Limits) -> Part {
        Part {
            role,
            places: Spool::within(limits),
            values: Spool::within(limits),
            count: 0,
            closure,
        }
    }

    fn push(&mut self, place: u64, element: &[u8]) -> Result<()> {
        self.count = self.count.saturating_add(1);
        self.closure.add(place);
        self.places.write(&place.to_le_bytes())?;
        self.values.write(element)
    }
}

/// A number as Fortran may write it: its exponent may begin with D.
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
