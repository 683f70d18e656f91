//! The nonzero blocks of a tensor, and their order.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::{HashMap, HashSet};

use super::{NAME, meta};
use crate::bytes::{to_u64, to_usize};
use crate::error::{Error, Result, sound};
use crate::io::{Compute, Lookup, Sibling, Source};
use crate::limits::Limits;
use crate::meta::Value;
use crate::tensor::{Address, Dim, Storage, Tensor, product};
use crate::wire::text::with_line;
use crate::wire::yaml;

/// The values of properties that define a block, or one case of a condition.
type Tuple = Vec<i128>;

/// One of several conditions, all of which must hold.
struct Condition {
    /// The dimension of each property, and its name.
    properties: Vec<(usize, String)>,
    /// The allowed values of the properties.
    tuples: Vec<Tuple>,
}

/// The indices of one block along a dimension.
enum Members<'a> {
    All(u64),
    Some(&'a [u64]),
}

/// The partition of a dimension's indices.
enum Axis {
    /// None: every block has all of them.
    Whole(u64),
    /// By these properties of these conditions: indices by their values.
    Parted {
        by: Vec<(usize, usize)>,
        indices: HashMap<Tuple, Vec<u64>>,
    },
}

/// The nonzero blocks, in order.
pub(super) struct Blocks {
    conditions: Vec<Condition>,
    axes: Vec<Axis>,
    strides: Vec<u64>,
    /// The number of each block with cells, and the number of cells before it.
    blocks: Vec<(u64, u64)>,
    cells: u64,
}

fn fault(why: impl Into<String>) -> Error {
    Error::malformed(None, why)
}

/// The conditions in a `nonZeroCondition`.
fn conditions(value: &Value, dims: &[Dim]) -> Result<Vec<Condition>> {
    let all = value.get("all").and_then(Value::as_list);
    let all = all.ok_or_else(|| fault("a nonZeroCondition without a list of conditions"))?;
    all.iter().map(|one| condition(one, dims)).collect()
}

fn condition(value: &Value, dims: &[Dim]) -> Result<Condition> {
    let list = |name: &str| {
        let list = value.get(name).and_then(Value::as_list);
        list.ok_or_else(|| fault(format!("a condition without a list of {name}")))
    };
    let property = |value: &Value| {
        let dimension = value.get("dimension").and_then(Value::as_u64);
        let dimension = dimension.and_then(|place| usize::try_from(place).ok());
        let dimension = dimension.filter(|place| *place < dims.len());
        let name = value.get("property").and_then(Value::as_text);
        match (dimension, name) {
            (Some(dimension), Some(name)) => Ok((dimension, name.to_owned())),
            _ => Err(fault(
                "a condition on no property of a dimension that is there",
            )),
        }
    };
    let properties: Vec<_> = list("properties")?
        .iter()
        .map(property)
        .collect::<Result<_>>()?;
    let mut seen = HashSet::new();
    let mut tuples = Vec::new();
    for tuple in list("nonZeros")? {
        let numbers = numbers(tuple).filter(|tuple| tuple.len() == properties.len());
        let count = properties.len();
        let tuple =
            numbers.ok_or_else(|| fault(format!("nonZeros that are not {count} numbers")))?;
        if !seen.insert(tuple.clone()) {
            return Err(fault(format!("nonZeros {tuple:?} are there twice")));
        }
        tuples.push(tuple);
    }
    Ok(Condition { properties, tuples })
}

fn numbers(value: &Value) -> Option<Tuple> {
    let number = |value: &Value| match value {
        Value::Int(number) => Some(*number),
        _ => None,
    };
    value.as_list()?.iter().map(number).collect()
}

fn type_of(dims: &[Dim], place: usize) -> Result<&str> {
    let name = dims.get(place).and_then(|dim| dim.name.as_deref());
    name.ok_or_else(|| {
        fault(format!(
            "a condition on dimension {place}, which has no type"
        ))
    })
}

/// The properties that a condition refers to, from the files of the types, by type.
pub(super) fn read_types(
    source: &Source,
    condition: &Value,
    dims: &[Dim],
    limits: &Limits,
) -> Result<Value> {
    let mut types: Vec<(Value, Value)> = Vec::new();
    for condition in conditions(condition, dims)? {
        for (place, _) in condition.properties {
            let name = type_of(dims, place)?;
            if types.iter().any(|(known, _)| known.as_text() == Some(name)) {
                continue;
            }
            let file = format!("{name}.yaml");
            let found = match source.beside(Sibling::Called(&file), NAME)? {
                Lookup::Found(found) => found,
                Lookup::Missing(absent) => return Err(absent.error()),
            };
            let read = || {
                let text = yaml::text(&found, NAME, limits)?;
                yaml::parse(&text, limits).map(|node| node.value())
            };
            let about =
                with_line(&found, read()).map_err(|error| error.unquoted().in_part(&file))?;
            types.push((name.into(), about));
        }
    }
    Ok(Value::Map(types))
}

impl Blocks {
    /// Computes the blocks, which may have `most` cells together.
    pub(super) fn read(
        condition: &Value,
        types: &Value,
        dims: &[Dim],
        most: u64,
        limits: &Limits,
    ) -> Result<Blocks> {
        let conditions = conditions(condition, dims)?;
        let sizes: Vec<u64> = dims.iter().filter_map(Dim::indexed_size).collect();
        let cells = product(&sizes).and_then(|cells| u64::try_from(cells).ok());
        cells.ok_or_else(|| fault("2^64 cells or more"))?;
        let axes = sizes.iter().enumerate();
        let axes = axes.map(|(place, size)| axis(place, *size, &conditions, types, dims));
        let mut stride = 1_u64;
        let strides = sizes.iter().map(|size| {
            let own = stride;
            stride = stride.saturating_mul(*size);
            own
        });
        let strides = strides.collect();
        let mut blocks = Blocks {
            axes: axes.collect::<Result<_>>()?,
            strides,
            conditions,
            blocks: Vec::new(),
            cells: 0,
        };
        blocks.count(most, limits)?;
        Ok(blocks)
    }

    fn count(&mut self, most: u64, limits: &Limits) -> Result<()> {
        let lens = self
            .conditions
            .iter()
            .map(|condition| to_u64(condition.tuples.len()));
        let n_blocks = lens.fold(1, u64::saturating_mul);
        limits.check_labels(n_blocks)?;
        let each = to_u64(self.axes.len()).saturating_add(to_u64(self.conditions.len()));
        let visits = u128::from(n_blocks).saturating_mul(each.into());
        /// Cost of computing one dimension or condition of a block, in cells.
        const COST: u128 = 4;
        let visits = visits.saturating_mul(COST);
        limits.meter().charge(visits)?;
        for number in 0..n_blocks {
            let members = self.members(number)?;
            let lens = members.iter().map(|members| match members {
                Members::All(size) => *size,
                Members::Some(indices) => to_u64(indices.len()),
            });
            let cells = lens.fold(1, u64::saturating_mul);
            if cells == 0 {
                continue;
            }
            self.blocks.push((number, self.cells));
            self.cells = self.cells.saturating_add(cells);
            if self.cells > most {
                let why = format!("blocks of more than the {most} elements that there can be");
                return Err(fault(why));
            }
        }
        Ok(())
    }

    /// The number of cells in all blocks.
    pub(super) fn cells(&self) -> u64 {
        self.cells
    }

    /// The indices of a block along every dimension.
    fn members(&self, number: u64) -> Result<Vec<Members<'_>>> {
        let mut rest = number;
        let mut chosen: Vec<&Tuple> = Vec::with_capacity(self.conditions.len());
        for condition in &self.conditions {
            let len = to_u64(condition.tuples.len());
            let place = rest.checked_rem(len).unwrap_or(0);
            rest = rest.checked_div(len).unwrap_or(0);
            let tuple = condition.tuples.get(to_usize(place)?);
            chosen.push(tuple.ok_or_else(|| fault("no such block"))?);
        }
        let value = |(condition, place): &(usize, usize)| {
            let tuple = chosen.get(*condition);
            tuple
                .and_then(|tuple| tuple.get(*place))
                .copied()
                .unwrap_or(0)
        };
        let members = |axis| match axis {
            &Axis::Whole(size) => Members::All(size),
            Axis::Parted { by, indices } => {
                let tuple: Tuple = by.iter().map(value).collect();
                Members::Some(indices.get(&tuple).map_or(&[], Vec::as_slice))
            }
        };
        Ok(self.axes.iter().map(members).collect())
    }

    /// Calls `each` with the positions of the cells from `first` on, until it returns false.
    fn for_each_from(&self, first: u64, each: &mut dyn FnMut(u64) -> bool) -> Result<()> {
        let next = self.blocks.partition_point(|(_, start)| *start <= first);
        let blocks = self
            .blocks
            .get(next.saturating_sub(1)..)
            .unwrap_or_default();
        let mut skipped = first.saturating_sub(blocks.first().map_or(0, |(_, start)| *start));
        for (number, _) in blocks {
            let members = self.members(*number)?;
            let lens = members.iter().map(|members| match members {
                Members::All(size) => *size,
                Members::Some(indices) => to_u64(indices.len()),
            });
            let lens: Vec<u64> = lens.collect();
            let cells = lens.iter().copied().fold(1, u64::saturating_mul);
            for cell in skipped..cells {
                if !each(self.place(cell, &members, &lens)) {
                    return Ok(());
                }
            }
            skipped = 0;
        }
        Ok(())
    }

    /// The position of a block's cell among all cells of the tensor.
    fn place(&self, cell: u64, members: &[Members], lens: &[u64]) -> u64 {
        let mut rest = cell;
        let mut place = 0_u64;
        for ((members, len), stride) in members.iter().zip(lens).zip(&self.strides) {
            let along = rest.checked_rem(*len).unwrap_or(0);
            rest = rest.checked_div(*len).unwrap_or(0);
            let index = match members {
                Members::All(_) => along,
                Members::Some(indices) => {
                    let index = usize::try_from(along).ok().and_then(|at| indices.get(at));
                    index.copied().unwrap_or(0)
                }
            };
            place = place.saturating_add(index.saturating_mul(*stride));
        }
        place
    }

    /// The positions of all cells, in file order.
    pub(super) fn for_each(&self, each: &mut dyn FnMut(u64) -> bool) -> Result<()> {
        self.for_each_from(0, each)
    }
}

fn axis(
    place: usize,
    size: u64,
    conditions: &[Condition],
    types: &Value,
    dims: &[Dim],
) -> Result<Axis> {
    let (mut by, mut lists) = (Vec::new(), Vec::new());
    for (number, condition) in conditions.iter().enumerate() {
        for (slot, (dimension, property)) in condition.properties.iter().enumerate() {
            if *dimension == place {
                by.push((number, slot));
                lists.push(property_values(
                    types,
                    type_of(dims, place)?,
                    property,
                    size,
                )?);
            }
        }
    }
    if by.is_empty() {
        return Ok(Axis::Whole(size));
    }
    let mut indices: HashMap<Tuple, Vec<u64>> = HashMap::new();
    for index in 0..size {
        let at = to_usize(index)?;
        let values = lists.iter().map(|list| list.get(at).copied().unwrap_or(0));
        indices.entry(values.collect()).or_default().push(index);
    }
    Ok(Axis::Parted { by, indices })
}

/// The values of a property at all `size` indices.
fn property_values(types: &Value, kind: &str, property: &str, size: u64) -> Result<Tuple> {
    let lists = types
        .get(kind)
        .and_then(|about| about.get("propertyIndices"));
    let list = lists.and_then(|lists| lists.get(property));
    let wrong = |why: String| fault(format!("the property {property:?} of {kind:?} {why}"));
    let list = list.ok_or_else(|| wrong("is not there".into()))?;
    let values = numbers(list).ok_or_else(|| wrong("is no list of numbers".into()))?;
    if to_u64(values.len()) != size {
        return Err(wrong(format!(
            "has {} values for {size} indices",
            values.len()
        )));
    }
    Ok(values)
}

/// The positions of the cells, as computed bytes.
impl Compute for Blocks {
    fn len(&self) -> u64 {
        self.cells.saturating_mul(8)
    }

    fn read_at(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let mut rest = buffer;
        let mut skip = usize::try_from(at % 8).unwrap_or(0);
        self.for_each_from(at / 8, &mut |place| {
            let bytes = place.to_le_bytes();
            let bytes = bytes.get(skip..).unwrap_or_default();
            skip = 0;
            let len = bytes.len().min(rest.len());
            let (now, later) = std::mem::take(&mut rest).split_at_mut(len);
            now.copy_from_slice(bytes.get(..len).unwrap_or_default());
            rest = later;
            !rest.is_empty()
        })
    }

    fn depth(&self) -> u32 {
        0
    }
}

/// The blocks in the metadata of a sparse tensor, if its cells are those of the blocks.
pub(super) fn of_tensor(tensor: &Tensor) -> Result<Option<(Blocks, Stored)>> {
    let Storage::Sparse { address, .. } = tensor.storage() else {
        return Ok(None);
    };
    let (Some(condition), Some(types)) = (
        tensor.meta.get(meta::CONDITION),
        tensor.meta.get(meta::TYPES),
    ) else {
        return Ok(None);
    };
    let limits = Limits::default().for_file(tensor.storage().stored_len());
    // Invalid metadata is metadata like any other.
    let read = Blocks::read(condition, types, tensor.dims(), tensor.stored(), &limits);
    let Some(blocks) = sound(read)? else {
        return Ok(None);
    };
    if blocks.cells() != tensor.stored() || !tensor.symmetries().is_empty() {
        return Ok(None);
    }
    if let Address::Linear(places) = address {
        match sound(places.to_vec())? {
            None => return Ok(None),
            Some(places) if in_order(&blocks, &places) => {
                return Ok(Some((blocks, Stored::InOrder)));
            }
            Some(_) => {}
        }
    }
    let mut own = HashSet::new();
    blocks.for_each(&mut |place| own.insert(place))?;
    let sizes = tensor.sizes()?;
    let mut are_all = true;
    let read = tensor.for_each_cell(&limits, &mut |cell| {
        if let crate::tensor::Cell::At { index, .. } = cell {
            are_all &= own.remove(&linear(index, &sizes));
        }
        Ok(())
    });
    let is_read = sound(read)?.is_some();
    Ok((is_read && are_all && own.is_empty()).then_some((blocks, Stored::Otherwise)))
}

/// The order of the cells of a sparse tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    /// As in a file of elements.
    InOrder,
    Otherwise,
}

fn in_order(blocks: &Blocks, places: &[u64]) -> bool {
    let mut places = places.iter();
    let mut is_alike = true;
    let read = blocks.for_each(&mut |place| {
        is_alike = places.next() == Some(&place);
        is_alike
    });
    read.is_ok() && is_alike
}

fn linear(index: &[u64], sizes: &[u64]) -> u64 {
    let mut place = 0_u64;
    for (index, size) in index.iter().zip(sizes).rev() {
        place = place.saturating_mul(*size).saturating_add(*index);
    }
    place
}

/// Whether the cells of a sparse tensor are those of the condition in its metadata.
pub(super) fn fit(tensor: &Tensor) -> Result<bool> {
    Ok(of_tensor(tensor)?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dimension of `count` indices, each with a property of its own, and two conditions on it
    /// that each list all of them: `count` times `count` blocks, of which only `count` have a cell.
    fn squared(count: i128, limits: &Limits) -> Result<u64> {
        let numbers = || (0..count).map(Value::Int);
        let map = |name: &str, value: Value| Value::Map(vec![(name.into(), value)]);
        let property = Value::Map(vec![
            ("dimension".into(), Value::Int(0)),
            ("property".into(), "P".into()),
        ]);
        let tuples = numbers().map(|number| Value::List(vec![number]));
        let condition = Value::Map(vec![
            ("properties".into(), Value::List(vec![property])),
            ("nonZeros".into(), Value::List(tuples.collect())),
        ]);
        let conditions = map("all", Value::List(vec![condition.clone(), condition]));
        let indices = map("P", Value::List(numbers().collect()));
        let types = map("A", map("propertyIndices", indices));
        let dims = [Dim::indexed(u64::try_from(count).unwrap()).named("A")];
        Blocks::read(&conditions, &types, &dims, u64::MAX, limits).map(|blocks| blocks.cells())
    }

    #[test]
    fn blocks_are_counted_before_they_are_looked_at() {
        let mut limits = Limits::default();
        // One dimension and two conditions for each of 10^4 blocks, as much as four cells each.
        limits.set("work", 120_000).unwrap();
        assert_eq!(squared(100, &limits.for_file(0)).unwrap(), 100);
        limits.set("work", 119_999).unwrap();
        let error = squared(100, &limits.for_file(0)).unwrap_err().to_string();
        assert!(error.contains("(120000 wanted, 119999 allowed"), "{error}");
        // Each byte of a file allows more.
        assert_eq!(squared(100, &limits.for_file(1)).unwrap(), 100);
    }
}
