//! Writes Vespa's typed binary format, as its C++ code does.

use super::{CELL_TYPES, DENSE, MOST, NAME, SPARSE, WITH_CELL_TYPE, is_usual_name};
use crate::bundle::Bundle;
use crate::bytes::{Endian, Extent, PIECE, Records, Scan, put_short, swap, to_u64};
use crate::dtype::{Number, Numbers};
use crate::error::{Error, Result};
use crate::format::WriteOptions;
use crate::io::Sink;
use crate::loss::{Aspect, Loss};
use crate::tensor::{Address, Dim, Order, Size, Storage, Tensor};

/// The order in which labelled blocks are written.
#[derive(Debug, Clone, Copy)]
enum BlockOrder {
    File,
    Labels,
}

pub(super) fn write(bundle: &Bundle, out: &mut Sink, how: &WriteOptions) -> Result<()> {
    let orders = [("file", BlockOrder::File), ("labels", BlockOrder::Labels)];
    let order = how.options.choose("order", &orders)?;
    let tensor = bundle.only()?;
    out.write(&header(tensor)?)?;
    match tensor.storage() {
        Storage::Dense { values, .. } => values.write(out, Endian::Big),
        Storage::Sparse {
            address: Address::Labels,
            values,
            ..
        } => {
            let blocks = Blocks::of(values)?;
            match order.unwrap_or(BlockOrder::File) {
                BlockOrder::File => blocks.write(out),
                BlockOrder::Labels => blocks.write_sorted(out),
            }
        }
        Storage::Sparse { .. } | Storage::Train { .. } | Storage::Opaque { .. } => {
            let why = "only dense and labelled tensors can be written as vespa";
            Err(Error::invalid(why))
        }
    }
}

/// Everything before the first block.
fn header(tensor: &Tensor) -> Result<Vec<u8>> {
    let number = tensor.dtype().number;
    let names = names(tensor.dims()).ok_or_else(|| Error::invalid(SOME_UNNAMED))?;
    let n_mapped = tensor.n_mapped();
    let (mapped, indexed) = names.split_at_checked(n_mapped).unwrap_or_default();

    let mut tag = 0;
    if !mapped.is_empty() {
        tag |= SPARSE;
    }
    if !indexed.is_empty() || mapped.is_empty() {
        tag |= DENSE;
    }
    if number != Number::F64 {
        tag |= WITH_CELL_TYPE;
    }

    let mut out = Vec::new();
    put_short(tag.into(), &mut out)?;
    if tag & WITH_CELL_TYPE != 0 {
        let id = CELL_TYPES.iter().position(|known| *known == number);
        let id = id.ok_or_else(|| Error::invalid(format!("{number} is no cell type")))?;
        put_short(to_u64(id), &mut out)?;
    }
    if tag & SPARSE != 0 {
        put_short(to_u64(mapped.len()), &mut out)?;
        for name in mapped {
            put_text(name, &mut out)?;
        }
    }
    if tag & DENSE != 0 {
        put_short(to_u64(indexed.len()), &mut out)?;
        for (name, size) in indexed.iter().zip(tensor.indexed_sizes()) {
            put_text(name, &mut out)?;
            put_short(size, &mut out)?;
        }
    }
    if !mapped.is_empty() {
        put_short(tensor.stored(), &mut out)?;
    }
    Ok(out)
}

fn put_text(text: &str, out: &mut Vec<u8>) -> Result<()> {
    put_short(to_u64(text.len()), out)?;
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

const SOME_UNNAMED: &str =
    "a dimension has no name, and names are made up only for 26 or fewer if none has one";

/// The names of the dimensions, or a, b, c, … if none has one; `None` if only some do, see
/// [`SOME_UNNAMED`].
pub(in crate::formats) fn names(dims: &[Dim]) -> Option<Vec<String>> {
    let named: Option<Vec<String>> = dims.iter().map(|dim| dim.name.clone()).collect();
    if named.is_some() {
        return named;
    }
    let letters: Vec<String> = ('a'..='z').take(dims.len()).map(String::from).collect();
    let is_enough = letters.len() == dims.len();
    (is_enough && dims.iter().all(|dim| dim.name.is_none())).then_some(letters)
}

/// The labelled blocks of a tensor.
struct Blocks<'a> {
    values: &'a Numbers,
    records: &'a Records,
}

impl<'a> Blocks<'a> {
    fn of(values: &'a Numbers) -> Result<Blocks<'a>> {
        match values.bytes.extent() {
            Extent::Records(records) => Ok(Blocks { values, records }),
            Extent::Run(_) | Extent::Strided(_) => {
                Err(Error::invalid("labelled values without labels"))
            }
        }
    }

    fn write(&self, out: &mut Sink) -> Result<()> {
        let source = self.values.bytes.source();
        self.records.for_each(source, &mut |_, labels, scan| {
            write_labels(labels, out)?;
            self.write_cells(scan, out)
        })
    }

    /// Holds all labels in memory while they are sorted.
    fn write_sorted(&self, out: &mut Sink) -> Result<()> {
        let source = self.values.bytes.source();
        let mut blocks: Vec<(Vec<String>, u64)> = Vec::new();
        self.records.for_each(source, &mut |_, labels, scan| {
            blocks.push((labels.to_vec(), scan.at()));
            Ok(())
        })?;
        blocks.sort_unstable();
        let mut scan = Scan::new(source, NAME);
        for (labels, cells_at) in blocks {
            write_labels(&labels, out)?;
            scan.seek(cells_at)?;
            self.write_cells(&mut scan, out)?;
        }
        Ok(())
    }

    /// Writes the cells of one block, which begin at `scan`.
    fn write_cells(&self, scan: &mut Scan, out: &mut Sink) -> Result<()> {
        let mut swapped = Vec::new();
        // A piece is a multiple of any number's width.
        scan.pieces(self.records.width(), PIECE, &mut |piece| {
            if !self.values.must_swap(Endian::Big) {
                return out.write(piece);
            }
            swapped.clear();
            swapped.extend_from_slice(piece);
            swap(&mut swapped, self.values.number.width());
            out.write(&swapped)
        })
    }
}

fn write_labels(labels: &[String], out: &mut Sink) -> Result<()> {
    let mut bytes = Vec::new();
    for label in labels {
        put_text(label, &mut bytes)?;
    }
    out.write(&bytes)
}

/// Losses of a file beyond [`Capabilities`](crate::format::Capabilities).
pub(in crate::formats) fn format_losses(bundle: &Bundle) -> Vec<Loss> {
    let mut losses = Vec::new();
    for (key, tensor) in bundle.entries() {
        let mut add = |aspect, detail: String| losses.push(Loss::impossible(key, aspect, detail));
        for_names(tensor.dims(), &mut add);
        for_values(tensor, &mut add);
    }
    losses
}

fn for_names(dims: &[Dim], add: &mut dyn FnMut(Aspect, String)) {
    let Some(names) = names(dims) else {
        return add(Aspect::DimNames, SOME_UNNAMED.into());
    };
    for name in names.iter().filter(|name| !is_usual_name(name)) {
        let detail = format!("Vespa refuses {name:?} as the name of a dimension");
        add(Aspect::DimNames, detail);
    }
    let mut wanted: Vec<(bool, &String)> = dims
        .iter()
        .zip(&names)
        .map(|(dim, name)| (dim.size != Size::Mapped, name))
        .collect();
    if !wanted.is_sorted() {
        let detail = "dimensions are not in Vespa's order";
        add(Aspect::Shape, detail.into());
    }
    wanted.sort_unstable_by_key(|(_, name)| *name);
    for pair in wanted.windows(2) {
        if let [(_, first), (_, second)] = pair
            && first == second
        {
            let detail = format!("two dimensions are called {first:?}; --dims names them");
            add(Aspect::DimNames, detail);
        }
    }
}

fn for_values(tensor: &Tensor, add: &mut dyn FnMut(Aspect, String)) {
    let dtype = tensor.dtype();
    let is_other = dtype.number != Number::F64 && CELL_TYPES.contains(&dtype.number);
    if tensor.dims().is_empty() && is_other {
        let detail = format!("elements of {dtype} in a tensor without dimensions, f64 fits");
        add(Aspect::Number, detail);
    }
    let Storage::Sparse {
        order,
        address: Address::Labels,
        ..
    } = tensor.storage()
    else {
        return;
    };
    if *order == Order::Column && tensor.indexed_sizes().len() > 1 {
        add(Aspect::Shape, "labelled blocks are column-major".into());
    }
    let n_blocks = tensor.stored();
    if n_blocks > MOST {
        let detail = format!("{n_blocks} labelled blocks, {MOST} fit");
        add(Aspect::Shape, detail);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Vespa;
    use super::*;
    use crate::bytes::RecordsBuilder;
    use crate::convert::write_to;
    use crate::dtype::DType;

    fn write_with(tensor: Tensor, options: &[(&str, &str)]) -> Result<Vec<u8>> {
        let mut how = WriteOptions::default();
        for (name, value) in options {
            how.options.set(*name, *value);
        }
        let mut out = Sink::memory();
        write_to(&Bundle::of(tensor), &mut out, &Vespa, &how)?;
        out.finish()?.into_memory()
    }

    fn dense(dims: Vec<Dim>, values: &[f32]) -> Tensor {
        let storage = Storage::Dense {
            order: Order::Row,
            values: Numbers::from_vec(values),
        };
        Tensor::new(dims, DType::real(Number::F32), vec![], storage).unwrap()
    }

    fn labelled(dims: Vec<Dim>, order: Order, records: RecordsBuilder) -> Tensor {
        let storage = Storage::Sparse {
            order,
            address: Address::Labels,
            values: Numbers {
                number: Number::F32,
                endian: Endian::Little,
                bytes: records.finish().unwrap(),
            },
        };
        Tensor::new(dims, DType::real(Number::F32), vec![], storage).unwrap()
    }

    fn refusal(tensor: Tensor) -> Vec<(Aspect, String)> {
        let losses = format_losses(&Bundle::of(tensor)).into_iter();
        losses.map(|loss| (loss.aspect, loss.detail)).collect()
    }

    #[test]
    fn a_dense_tensor_is_written_big_endian_with_its_cell_type() {
        let dims = vec![Dim::indexed(1).named("x"), Dim::indexed(2).named("y")];
        assert_eq!(
            write_with(dense(dims, &[1.0, -2.0]), &[]).unwrap(),
            b"\x06\x01\x02\x01x\x01\x01y\x02\x3f\x80\0\0\xc0\0\0\0"
        );
    }

    #[test]
    fn dimensions_are_called_a_b_c_if_none_has_a_name() {
        let unnamed = vec![Dim::indexed(1), Dim::indexed(1)];
        assert_eq!(
            write_with(dense(unnamed, &[1.0]), &[]).unwrap(),
            b"\x06\x01\x02\x01a\x01\x01b\x01\x3f\x80\0\0"
        );
        let some = vec![Dim::indexed(1).named("a"), Dim::indexed(1)];
        let many = vec![Dim::indexed(1); 27];
        for dims in [some, many] {
            let losses = refusal(dense(dims, &[1.0]));
            assert_eq!(losses, [(Aspect::DimNames, SOME_UNNAMED.into())]);
        }
    }

    #[test]
    fn blocks_built_in_memory_are_written_as_they_come_or_sorted() {
        let dims = || vec![Dim::mapped("k"), Dim::mapped("l")];
        let blocks = || {
            let mut records = RecordsBuilder::new(2, 4);
            for (labels, cell) in [(["b", ""], 1.0_f32), (["a", "z"], 2.0), (["a", "é"], 3.0)] {
                records.push(&labels, &cell.to_le_bytes()).unwrap();
            }
            labelled(dims(), Order::Row, records)
        };
        let header = b"\x05\x01\x02\x01k\x01l\x03".as_slice();
        let [first, second, third] = [
            b"\x01b\0\x3f\x80\0\0".as_slice(),
            b"\x01a\x01z\x40\0\0\0",
            b"\x01a\x02\xc3\xa9\x40\x40\0\0",
        ];
        assert_eq!(
            write_with(blocks(), &[]).unwrap(),
            [header, first, second, third].concat()
        );
        assert_eq!(
            write_with(blocks(), &[("order", "labels")]).unwrap(),
            [header, second, third, first].concat()
        );
        let error = write_with(blocks(), &[("order", "size")]).unwrap_err();
        assert_eq!(error.to_string(), "order is size, not one of file, labels");
    }

    #[test]
    fn a_block_longer_than_a_piece_is_swapped_whole() {
        let size = u64::try_from(PIECE).unwrap();
        let cells: Vec<f32> = (0..PIECE)
            .map(|n| f32::from_bits(n.try_into().unwrap()))
            .collect();
        let mut records = RecordsBuilder::new(1, 4 * PIECE);
        let little: Vec<u8> = cells.iter().flat_map(|cell| cell.to_le_bytes()).collect();
        records.push(&["k"], &little).unwrap();
        let dims = vec![Dim::mapped("k"), Dim::indexed(size).named("x")];
        let file = write_with(labelled(dims, Order::Row, records), &[]).unwrap();
        let big: Vec<u8> = cells.iter().flat_map(|cell| cell.to_be_bytes()).collect();
        let header = b"\x07\x01\x01\x01k\x01\x01x\x80\x04\0\0\x01\x01k";
        assert_eq!(file, [header.as_slice(), &big].concat());
    }

    #[test]
    fn a_tensor_that_would_have_to_be_transposed_is_refused() {
        let unsorted = vec![Dim::indexed(1).named("y"), Dim::indexed(1).named("x")];
        let order = [(Aspect::Shape, "dimensions are not in Vespa's order".into())];
        assert_eq!(refusal(dense(unsorted, &[1.0])), order);

        let mut records = RecordsBuilder::new(1, 4);
        records.push(&["k"], &[0; 4]).unwrap();
        let mapped_last = vec![Dim::indexed(1).named("x"), Dim::mapped("y")];
        let tensor = labelled(mapped_last, Order::Row, records);
        assert_eq!(refusal(tensor), order);

        let columns = vec![
            Dim::mapped("k"),
            Dim::indexed(2).named("x"),
            Dim::indexed(2).named("y"),
        ];
        let tensor = labelled(columns, Order::Column, RecordsBuilder::new(1, 16));
        let wanted = (Aspect::Shape, "labelled blocks are column-major".into());
        assert_eq!(refusal(tensor), [wanted]);
    }

    #[test]
    fn names_that_vespa_refuses_or_that_repeat_are_refused() {
        let odd = vec![Dim::indexed(1).named("a b")];
        let detail = "Vespa refuses \"a b\" as the name of a dimension";
        let wanted = (Aspect::DimNames, detail.into());
        assert_eq!(refusal(dense(odd, &[1.0])), [wanted]);
        let twice = vec![Dim::mapped("x"), Dim::indexed(1).named("x")];
        let tensor = labelled(twice, Order::Row, RecordsBuilder::new(1, 4));
        let detail = "two dimensions are called \"x\"; --dims names them";
        assert_eq!(refusal(tensor), [(Aspect::DimNames, detail.into())]);
    }

    #[test]
    fn only_a_double_has_no_dimensions() {
        let detail = "elements of f32 in a tensor without dimensions, f64 fits";
        let losses = refusal(dense(vec![], &[1.0]));
        assert_eq!(losses, [(Aspect::Number, detail.into())]);
    }
}
