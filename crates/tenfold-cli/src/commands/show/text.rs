//! Values as text: small tensors in full, large ones abbreviated.

use tenfold::{Bundle, Info, Limits, Result, Storage, Tensor};

use super::cells;
use crate::render::{Window, array, metadata_lines, shown_name};
use crate::terminal::{Out, cells_text, counted, dtype_text, plain, shape_text};

/// Trains whose printed cells need more multiplications are not evaluated.
const WORK: u64 = 1 << 26;

pub(super) fn print(info: &Info, bundle: &Bundle, limits: &Limits, out: &mut Out) -> Result<()> {
    if bundle.entries().is_empty() {
        for line in metadata_lines(&bundle.meta, &bundle.hints) {
            out.text(&format!("{}\n", plain(&line)))?;
        }
    }
    for (place, (key, tensor)) in bundle.entries().iter().enumerate() {
        if place > 0 {
            out.text("\n")?;
        }
        let name = match shown_name(info, key) {
            name if name.is_empty() => name,
            name => format!("{name}: "),
        };
        let head = format!("{name}{} {}", dtype_text(tensor), shape_text(tensor));
        out.text(&plain(&format!("{head} {}", cells_text(tensor))))?;
        body(tensor, limits, out)?;
    }
    Ok(())
}

/// Prints the rest of the first line, and the values.
fn body(tensor: &Tensor, limits: &Limits, out: &mut Out) -> Result<()> {
    match tensor.storage() {
        Storage::Dense { .. } => {
            let window = Window::new(&tensor.sizes()?, tensor.cells());
            looked_at(tensor, &window, out)?;
            windowed(tensor, &window, limits, out)
        }
        Storage::Sparse { .. } => {
            tensor.compare_checksums()?;
            out.text("\n")?;
            cells::print(tensor, limits, out)
        }
        Storage::Train { ranks, .. } => {
            let window = Window::new(&tensor.sizes()?, tensor.cells());
            looked_at(tensor, &window, out)?;
            train(tensor, ranks, &window, limits, out)
        }
        Storage::Opaque { parts, .. } => {
            out.text("\n")?;
            for (name, numbers) in parts {
                let count = counted(numbers.len(), "number");
                let line = format!("  {name}: {count} of {}", numbers.number);
                out.text(&format!("{}\n", plain(&line)))?;
            }
            if tensor.is_quantized() {
                out.text("  --dequantize works its values out\n")
            } else {
                Ok(())
            }
        }
    }
}

/// Verifies the checksums of data read in full, and otherwise reports that they were not verified.
fn looked_at(tensor: &Tensor, window: &Window, out: &mut Out) -> Result<()> {
    if window.is_whole() {
        tensor.compare_checksums()?;
    } else if { tensor.storage().parts() }
        .iter()
        .any(|part| part.bytes.digest().is_some())
    {
        out.text(" (checksum not looked at: only the edges are read)")?;
    }
    out.text("\n")
}

fn windowed(tensor: &Tensor, window: &Window, limits: &Limits, out: &mut Out) -> Result<()> {
    let cells = if window.is_empty() {
        Vec::new()
    } else {
        window.read(tensor, limits)?
    };
    out.text(&format!("{}\n", array(window, tensor.dtype(), &cells)))
}

fn train(
    tensor: &Tensor,
    ranks: &[u64],
    window: &Window,
    limits: &Limits,
    out: &mut Out,
) -> Result<()> {
    let sizes = tensor.sizes()?;
    let links = || ranks.iter().zip(ranks.iter().skip(1));
    let shapes: Vec<String> = sizes
        .iter()
        .zip(links())
        .map(|(size, (rank, next))| format!("{rank}×{size}×{next}"))
        .collect();
    out.text(&format!("cores {}\n", listed(&shapes)))?;
    let mut rows = 1_u64;
    let work = window
        .axes
        .iter()
        .zip(links())
        .fold(0_u64, |work, (axis, (rank, next))| {
            rows = rows.saturating_mul(axis.shown());
            work.saturating_add(rows.saturating_mul(*rank).saturating_mul(*next))
        });
    if work > WORK {
        return out.text("its values take long to work out, and are not shown\n");
    }
    windowed(tensor, window, limits, out)
}

/// Many shapes are abbreviated to those at the ends.
fn listed(shapes: &[String]) -> String {
    match shapes {
        [first, second, .., last] if shapes.len() > 8 => format!("{first} {second} ... {last}"),
        shapes => shapes.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::samples::MADE_UP;
    use crate::terminal::printed;
    use tenfold::Key;

    fn shown(entries: Vec<(Key, Tensor)>) -> String {
        let mut bundle = Bundle::new();
        for (key, tensor) in entries {
            bundle.push(key, tensor);
        }
        printed(|out| print(&MADE_UP, &bundle, &Limits::default(), out))
    }

    #[test]
    fn every_kind_of_tensor_has_its_own_print() {
        let text = shown(vec![
            samples::dense(),
            samples::packed(),
            samples::sparse(),
            samples::labelled(),
            samples::opaque(),
        ]);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_edges_of_a_large_tensor_are_shown_without_its_checksum() {
        let text = shown(vec![(Key::root(), samples::damaged(2000))]);
        assert_eq!(
            text,
            "u16 [2000] dense (checksum not looked at: only the edges are read)\n\
             [   0    1    2 ... 1997 1998 1999]\n"
        );
    }

    #[test]
    fn a_small_tensor_is_not_shown_if_its_checksum_is_wrong() {
        let bundle = Bundle::of(samples::damaged(2));
        printed(|out| {
            assert!(print(&MADE_UP, &bundle, &Limits::default(), out).is_err());
            Ok(())
        });
    }
}
