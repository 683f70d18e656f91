//! Values as JSON: complete, exact and streamed.
//!
//! The schema `tenfold.show/1` is a contract with other programs.

use tenfold::{
    Bundle, Cell, DType, Endian, Info, Key, Limits, Numbers, Order, Result, Storage, Tensor,
};

use crate::render::{Json, describe, elements, metadata, note};
use crate::terminal::Out;

const SCHEMA: &str = "tenfold.show/1";

/// Bytes of values held at a time; larger buffers need fewer reads for reordering.
const BUDGET: usize = 8 << 20;

/// Bytes of values formatted at a time.
const PIECE: usize = 8 << 10;

pub(in crate::commands) fn print(
    info: &Info,
    bundle: &Bundle,
    limits: &Limits,
    out: &mut Out,
) -> Result<()> {
    // Checked before anything is printed, so that a damaged file never gives half an object.
    for (_, tensor) in bundle.entries() {
        if let Storage::Dense { .. } = tensor.storage() {
            tensor.dense(Order::Row, limits)?; // lazy: only checks whether it may be expanded
        }
        tensor.compare_checksums()?;
    }
    let mut json = Json::new(out);
    json.object(|json| {
        json.name("schema")?.text(SCHEMA)?;
        json.name("format")?.text(info.name)?;
        metadata(json, &bundle.meta, &bundle.hints)?;
        json.name("notes")?.list(|json| {
            let mut notes = bundle.notes().iter();
            notes.try_for_each(|item| note(json, Some(info), item))
        })?;
        json.name("tensors")?.list(|json| {
            let mut entries = bundle.entries().iter();
            entries.try_for_each(|(key, tensor)| {
                json.object(|json| tensor_json(json, info, key, tensor, limits))
            })
        })
    })?;
    json.end_line()
}

fn tensor_json(
    json: &mut Json,
    info: &Info,
    key: &Key,
    tensor: &Tensor,
    limits: &Limits,
) -> Result<()> {
    describe(json, info, key, tensor)?;
    match tensor.storage() {
        Storage::Dense { .. } => json.name("data")?.list(|json| {
            tensor.for_each(BUDGET, limits, &mut |bytes| {
                values(json, tensor.dtype(), bytes)
            })
        }),
        Storage::Sparse { .. } => json.name("cells")?.list(|json| {
            tensor.for_each_cell(limits, &mut |item| cell(json, tensor.dtype(), &item))
        }),
        Storage::Train { ranks, cores } => {
            json.name("ranks")?.numbers(ranks)?;
            json.name("cores")?
                .list(|json| train(json, tensor, ranks, cores))
        }
        Storage::Opaque { layout, parts } => {
            json.name("layout")?.text(layout)?;
            json.name("parts")?.list(|json| {
                let mut parts = parts.iter();
                parts.try_for_each(|(name, numbers)| part(json, name, numbers))
            })
        }
    }
}

/// Writes elements into an open list.
fn values(json: &mut Json, dtype: DType, bytes: &[u8]) -> Result<()> {
    let width = dtype.width();
    let piece = (PIECE / width).max(1).saturating_mul(width);
    let mut text = String::new();
    for bytes in bytes.chunks(piece) {
        text.clear();
        elements(dtype, bytes, &mut text);
        json.raw(&text)?;
    }
    Ok(())
}

fn cell(json: &mut Json, dtype: DType, cell: &Cell) -> Result<()> {
    json.object(|json| match cell {
        Cell::At { index, value } => {
            json.name("at")?.numbers(*index)?;
            json.name("data")?.list(|json| values(json, dtype, value))
        }
        Cell::Labelled { labels, values } => {
            json.name("at")?.texts(*labels)?;
            numbers(json.name("data")?, dtype, values)
        }
    })
}

fn train(json: &mut Json, tensor: &Tensor, ranks: &[u64], cores: &[Numbers]) -> Result<()> {
    let links = ranks.iter().zip(ranks.iter().skip(1));
    for ((core, size), (rank, next)) in cores.iter().zip(tensor.sizes()?).zip(links) {
        json.object(|json| {
            json.name("shape")?.numbers([*rank, size, *next])?;
            numbers(json.name("data")?, tensor.dtype(), core)
        })?;
    }
    Ok(())
}

fn part(json: &mut Json, name: &str, part: &Numbers) -> Result<()> {
    json.object(|json| {
        json.name("name")?.text(name)?;
        json.name("dtype")?.text(part.number.as_str())?;
        numbers(json.name("data")?, DType::real(part.number), part)
    })
}

/// Writes a list of consecutive elements.
fn numbers(json: &mut Json, dtype: DType, numbers: &Numbers) -> Result<()> {
    json.list(|json| {
        numbers.for_each(Endian::Little, dtype.width(), BUDGET, &mut |bytes| {
            values(json, dtype, bytes)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::samples::MADE_UP;
    use crate::terminal::printed;

    fn shown((key, tensor): (Key, Tensor)) -> String {
        let mut bundle = Bundle::new();
        bundle.push(key, tensor);
        let text = printed(|out| print(&MADE_UP, &bundle, &Limits::default(), out));
        let start = r#"{"schema":"tenfold.show/1","format":"made-up","metadata":{},"notes":[],"#;
        let rest = text.strip_prefix(start).unwrap();
        let rest = rest.strip_prefix("\"tensors\":[").unwrap();
        rest.strip_suffix("]}\n").unwrap().to_owned()
    }

    #[test]
    fn dense_values_are_row_major_and_metadata_shows_hints() {
        assert_eq!(
            shown(samples::dense()),
            r#"{"key":["enc/w"],"state":null,"name":"enc/w","dtype":"f32","shape":[2,3],"#
                .to_owned()
                + r#""dims":[{"name":"x","size":2},{"name":null,"size":3}],"storage":"dense","#
                + r#""symmetries":[],"metadata":{"unit":"m/s\u001b[2J","#
                + r#""made-up:order":{"$bytes":"AQI="}},"data":[1.0,0.1,5.0,2.0,"NaN",-0.0]}"#
        );
    }

    #[test]
    fn packed_values_are_unpacked() {
        assert_eq!(
            shown(samples::packed()),
            r#"{"key":["antisymmetric"],"state":null,"name":"antisymmetric","#.to_owned()
                + r#""dtype":"i16","shape":[3,3],"#
                + r#""dims":[{"name":null,"size":3},{"name":null,"size":3}],"storage":"dense","#
                + r#""symmetries":[{"permutation":[1,0],"operation":"-x","packed":true}],"#
                + r#""metadata":{},"data":[0,-1,-2,1,0,-3,2,3,0]}"#
        );
    }

    #[test]
    fn sparse_cells_are_followed_by_their_images() {
        let text = shown(samples::sparse());
        let cells = r#""cells":[{"at":[0,0],"data":[[1.0,0.0]]},"#.to_owned()
            + r#"{"at":[3,0],"data":[[2.0,-3.5]]},{"at":[0,3],"data":[[2.0,3.5]]}]}"#;
        assert!(text.ends_with(&cells), "{text}");
    }

    #[test]
    fn labelled_blocks_have_labels_and_mapped_dimensions_no_size() {
        assert_eq!(
            shown(samples::labelled()),
            r#"{"key":[],"state":null,"name":"","dtype":"u8","shape":[null,2],"#.to_owned()
                + r#""dims":[{"name":"colour","mapped":true},{"name":"x","size":2}],"#
                + r#""storage":"sparse","symmetries":[],"metadata":{},"#
                + r#""cells":[{"at":["red"],"data":[1,2]},{"at":["light\nblue"],"data":[3,4]}]}"#
        );
    }

    #[test]
    fn opaque_parts_are_shown_as_they_are() {
        let text = shown(samples::opaque());
        let parts = r#""layout":"sparse_blocked","parts":["#.to_owned()
            + r#"{"name":"indices","dtype":"u16","data":[1,500]},"#
            + r#"{"name":"values","dtype":"f64","data":[0.5]}]}"#;
        assert!(text.ends_with(&parts), "{text}");
    }

    #[test]
    fn nothing_is_printed_of_a_file_with_a_wrong_checksum() {
        let bundle = Bundle::of(samples::damaged(2));
        let text = printed(|out| {
            let error = print(&MADE_UP, &bundle, &Limits::default(), out).unwrap_err();
            assert!(error.to_string().contains("checksum"), "{error}");
            Ok(())
        });
        assert_eq!(text, "");
    }
}
