//! Pickles, as sequences of instructions: an opcode and as many bytes of argument as it takes.

use super::{Random, sequence};

/// An instruction, its argument included.
type Instruction = Vec<u8>;

/// Arguments by opcode, as `pickletools` of CPython lists them.
enum Argument {
    None,
    Bytes(usize),
    /// One line of text, or two.
    Lines(usize),
    /// As many bytes as a number of this width says.
    Counted(usize),
}

fn argument(opcode: u8) -> Argument {
    match opcode {
        b'K' | b'h' | b'q' | 0x80 | 0x82 => Argument::Bytes(1),
        b'M' | 0x83 => Argument::Bytes(2),
        b'J' | b'j' | b'r' | 0x84 => Argument::Bytes(4),
        b'G' | 0x95 => Argument::Bytes(8),
        b'F' | b'I' | b'L' | b'P' | b'S' | b'V' | b'g' | b'p' => Argument::Lines(1),
        b'c' | b'i' => Argument::Lines(2),
        b'U' | b'C' | 0x8a | 0x8c => Argument::Counted(1),
        b'X' | b'T' | b'B' | 0x8b => Argument::Counted(4),
        0x8d | 0x8e | 0x96 => Argument::Counted(8),
        _ => Argument::None,
    }
}

/// How many bytes the instruction at the front has; all that are left if it is cut short.
fn len(data: &[u8]) -> usize {
    let Some((opcode, rest)) = data.split_first() else {
        return 0;
    };
    let argument = match argument(*opcode) {
        Argument::None => 0,
        Argument::Bytes(count) => count,
        Argument::Lines(count) => {
            let ends = rest.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            let end = ends.map(|(at, _)| at + 1).nth(count - 1);
            end.unwrap_or(rest.len())
        }
        Argument::Counted(width) => {
            let mut count = [0; 8];
            let given = &rest[..width.min(rest.len())];
            count[..given.len()].copy_from_slice(given);
            let count = usize::try_from(u64::from_le_bytes(count)).unwrap_or(usize::MAX);
            count.saturating_add(width)
        }
    };
    argument.saturating_add(1).min(data.len())
}

fn instructions(mut data: &[u8]) -> Vec<Instruction> {
    let mut all = Vec::new();
    while !data.is_empty() {
        let (first, rest) = data.split_at(len(data));
        all.push(first.to_vec());
        data = rest;
    }
    all
}

/// Instructions of the usual programs, with arguments that other instructions can refer to.
fn fresh(random: &mut Random) -> Instruction {
    const PLAIN: &[u8] =
        b"(.012NRabdetlosu)]}Q\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x92\x93\x94\x97\x98";
    const NAMES: &[&str] = &[
        "collections\nOrderedDict",
        "torch._utils\n_rebuild_tensor_v2",
        "torch._utils\n_rebuild_sparse_tensor",
        "torch._utils\n_rebuild_parameter",
        "torch\nFloatStorage",
        "torch\nDoubleStorage",
        "torch.storage\n_load_from_bytes",
        "numpy.core.multiarray\n_reconstruct",
        "numpy\nndarray",
        "numpy\ndtype",
        "_codecs\nencode",
        "builtins\nset",
        "os\nsystem",
    ];
    const TEXTS: &[&str] = &[
        "", "a", "storage", "cpu", "0", "weight", "f4", "<", "latin1",
    ];
    let number = random.number().to_le_bytes();
    let small = random.below(8) as u8;
    let mut made = match random.below(8) {
        0 => vec![b'K', small],
        1 => vec![b'M', number[0], number[1]],
        2 => [b"J", &number[..4]].concat(),
        3 => [b"\x8a\x08", &number[..]].concat(),
        4 => vec![*random.pick(b"hq").unwrap_or(&b'h'), small],
        5 => format!("c{}\n", random.pick(NAMES).unwrap_or(&"a\nb")).into_bytes(),
        6 => {
            let text = random.pick(TEXTS).unwrap_or(&"").as_bytes();
            [b"X", &(text.len() as u32).to_le_bytes()[..], text].concat()
        }
        _ => vec![],
    };
    if made.is_empty() {
        made.push(*random.pick(PLAIN).unwrap_or(&b'N'));
    }
    made
}

/// Changes the argument of an instruction, and the length that it says.
fn reworded(instruction: &[u8], random: &mut Random) -> Instruction {
    let Some((opcode, argument)) = instruction.split_first() else {
        return fresh(random);
    };
    let mut made = vec![*opcode];
    match self::argument(*opcode) {
        Argument::None => return fresh(random),
        Argument::Bytes(count) => made.extend(&random.number().to_le_bytes()[..count]),
        Argument::Lines(_) => {
            let mut text = random.bytes(argument);
            text.retain(|byte| *byte != b'\n');
            made.extend(text);
            made.extend(b"\n");
            if matches!(opcode, b'c' | b'i') {
                made.extend(b"name\n");
            }
        }
        Argument::Counted(width) => {
            let content = random.bytes(argument.get(width..).unwrap_or_default());
            made.extend(&(content.len() as u64).to_le_bytes()[..width]);
            made.extend(content);
        }
    }
    made
}

/// Changes one to three instructions.
pub fn mutate(data: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut all = instructions(data);
    for _ in 0..=random.below(3) {
        let at = random.below(all.len());
        match all.get_mut(at) {
            Some(instruction) if random.one_in(3) => *instruction = reworded(instruction, random),
            _ => sequence::change(&mut all, random, fresh),
        }
    }
    // Without this instruction nothing is read.
    if all.last().is_none_or(|last| last != b".") {
        all.push(b".".to_vec());
    }
    Some(all.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pickle_comes_apart_at_its_instructions() {
        let pickle = b"\x80\x02}q\x00X\x01\x00\x00\x00acos\nsystem\nU\x02hi\x85R.";
        let all = instructions(pickle);
        let wanted: &[&[u8]] = &[
            b"\x80\x02",
            b"}",
            b"q\x00",
            b"X\x01\x00\x00\x00a",
            b"cos\nsystem\n",
            b"U\x02hi",
            b"\x85",
            b"R",
            b".",
        ];
        assert_eq!(all, wanted);
    }

    #[test]
    fn what_is_cut_short_is_kept() {
        for cut in [
            &b"X\xff\xff"[..],
            b"X\xff\xff\xff\xffabc",
            b"cos\nsys",
            b"\x8d\xff",
        ] {
            assert_eq!(instructions(cut).concat(), cut);
        }
    }
}
