//! YAML, as lines with those below them that are indented further: they move and are repeated together.

use super::{Random, sequence};

/// The files of cc4s begin with this where several are one run of bytes (`tests/shared/files.rs`).
const SEVERAL: &[u8] = b"several files\n";

/// A line without its indentation, and the lines that belong to it.
#[derive(Clone, Debug, PartialEq)]
struct Block {
    line: String,
    below: Vec<Block>,
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The blocks of lines; what is indented further than the line before belongs to it.
fn blocks(lines: &[&str]) -> Vec<Block> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let from = at + 1;
        let further = |other: &&&str| indentation(other) > indentation(line);
        at = from + lines[from..].iter().take_while(further).count();
        all.push(Block {
            line: line.trim_start_matches(' ').to_owned(),
            below: blocks(&lines[from..at]),
        });
    }
    all
}

fn write(blocks: &[Block], depth: usize, out: &mut String) {
    for block in blocks {
        out.extend(std::iter::repeat_n("  ", depth));
        out.push_str(&block.line);
        out.push('\n');
        write(&block.below, depth + 1, out);
    }
}

fn fresh(random: &mut Random) -> Block {
    const LINES: &[&str] = &[
        "- a",
        "- 1",
        "a: 1",
        "a: [1, 2]",
        "a: {b: 1}",
        "a: 'b'",
        "a: \"\\u0041\"",
        "a: |",
        "a: >-",
        "a:",
        "-",
        "? a",
        ": b",
        "a: &x 1",
        "b: *x",
        "!!str a: 1",
        "# a",
        "a: .nan",
        "a: -.inf",
        "a: 0x1f",
        "a: 1e999",
        "a: ~",
        "<<: {a: 1}",
        "---",
        "...",
        "%YAML 1.2",
        "version: 100",
        "type: Tensor",
        "scalarType: Real64",
        "dimensions:",
        "- length: 2",
        "- type: State",
        "elements:",
        "type: TextFile",
        "type: IeeeBinaryFile",
        "unit: 1.0",
        "metaData:",
        "nonZeroCondition: 0",
    ];
    let line = match random.below(4) {
        0 => format!("k{}: {}", random.below(4), random.number()),
        _ => (*random.pick(LINES).unwrap_or(&"a")).to_owned(),
    };
    Block {
        line,
        below: vec![],
    }
}

/// The blocks around a random one: those of the document, or those below a line.
fn around<'a>(blocks: &'a mut Vec<Block>, random: &mut Random) -> &'a mut Vec<Block> {
    let at = random.below(blocks.len());
    let goes_down = blocks.get(at).is_some_and(|block| !block.below.is_empty());
    if goes_down && !random.one_in(3) {
        return around(&mut blocks[at].below, random);
    }
    blocks
}

/// Changes one or two blocks of a document.
pub fn mutate(data: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(data).ok()?;
    let mut all = blocks(&text.lines().collect::<Vec<_>>());
    for _ in 0..=random.below(2) {
        let near = around(&mut all, random);
        let at = random.below(near.len());
        match near.get_mut(at) {
            // A block comes below the one before it, or out of it.
            Some(block) if random.one_in(6) => {
                let mut inner = std::mem::take(&mut block.below);
                near.append(&mut inner);
            }
            Some(block) if random.one_in(2) => {
                let changed = random.bytes(block.line.as_bytes());
                let changed = String::from_utf8_lossy(&changed);
                block.line = changed.replace(['\n', '\r'], " ");
            }
            _ => sequence::change(near, random, fresh),
        }
    }
    let mut out = String::new();
    write(&all, 0, &mut out);
    Some(out.into_bytes())
}

/// Changes the first of several files, which describes the others, and the length that is said of it.
pub fn mutate_described(data: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let Some(rest) = data.strip_prefix(SEVERAL) else {
        return mutate(data, random);
    };
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (name, len) = std::str::from_utf8(&rest[..end]).ok()?.split_once(' ')?;
    let (name, len): (usize, usize) = (name.parse().ok()?, len.parse().ok()?);
    let (name, rest) = rest[end + 1..].split_at_checked(name)?;
    let (first, others) = rest.split_at_checked(len)?;
    let first = mutate(first, random)?;
    let head = format!("{} {}\n", name.len(), first.len());
    Some([SEVERAL, head.as_bytes(), name, &first, others].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_belong_to_the_one_before_that_is_indented_less() {
        let text = "a:\n  b: 1\n  c:\n    d: 2\ne: 3\n";
        let all = blocks(&text.lines().collect::<Vec<_>>());
        let shape: Vec<usize> = all.iter().map(|block| block.below.len()).collect();
        assert_eq!(shape, [2, 0]);
        let mut out = String::new();
        write(&all, 0, &mut out);
        assert_eq!(out, text);
    }
}
