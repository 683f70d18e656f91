//! The stack machine of pickles, restricted to building data.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashMap;
use std::mem::size_of;

use super::{Id, Item, Node, Object, Pickle, opcode};
use crate::bytes::{Endian, Scan, to_u64};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::memory;

/// The latest supported protocol.
const LAST_PROTOCOL: u8 = 5;
/// Longest line after an opcode: the name of a module or a class.
const MOST_LINE: usize = 4096;

pub(super) fn run(scan: &mut Scan, limits: &Limits) -> Result<Pickle> {
    let start = scan.at();
    let mut machine = Machine {
        scan,
        limits,
        at: start,
        opcode: 0,
        nodes: Vec::new(),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
        constants: HashMap::new(),
    };
    let root = loop {
        if let Some(root) = machine.step()? {
            break root;
        }
    };
    let nodes = machine.nodes;
    let len = scan.at().saturating_sub(start);
    Ok(Pickle { nodes, root, len })
}

struct Machine<'a, 'b> {
    scan: &'a mut Scan<'b>,
    limits: &'a Limits,
    /// Offset of the current opcode.
    at: u64,
    opcode: u8,
    nodes: Vec<Node>,
    stack: Vec<Id>,
    /// The stack height at each mark.
    marks: Vec<usize>,
    memo: HashMap<u32, Id>,
    /// None, True, False and the empty tuple, which are stored only once.
    constants: HashMap<u8, Id>,
}

impl Machine<'_, '_> {
    /// Executes one opcode; returns the result at the last.
    fn step(&mut self) -> Result<Option<Id>> {
        self.at = self.scan.at();
        self.opcode = self.scan.u8()?;
        match self.opcode {
            b'.' => return self.pop().map(Some),
            0x80 => self.protocol()?,
            0x95 => self.scan.skip(8)?, // a frame is a hint for readers of streams
            b'(' => self.mark()?,
            b'0' => self.discard()?,
            b'1' => drop(self.marked()?),
            b'2' => {
                let top = self.top()?;
                self.stack(top)?;
            }
            b'N' | 0x88 | 0x89 | b')' => self.constant()?,
            b'K' | b'M' | b'J' | 0x8a | 0x8b => self.whole()?,
            b'G' => {
                let bits = self.scan.u64(Endian::Big)?;
                self.push(Item::Float(f64::from_bits(bits)))?;
            }
            b'X' | b'T' | b'U' | 0x8c | 0x8d => self.text()?,
            b'B' | b'C' | 0x8e | 0x96 => self.bytes()?,
            b'h' | b'j' => self.get()?,
            b'q' | b'r' | 0x94 => self.put()?,
            b']' => self.push(Item::List(Vec::new()))?,
            b'}' => self.push(Item::Dict(Vec::new()))?,
            0x8f => self.push(Item::Set(Vec::new()))?,
            b't' | 0x85 | 0x86 | 0x87 => self.tuple()?,
            0x91 => {
                let items = self.marked()?;
                self.push(Item::Set(items))?;
            }
            b'a' | b'e' | 0x90 => self.append()?,
            b's' | b'u' => self.set()?,
            b'c' | 0x93 => self.global()?,
            b'R' | 0x81 | 0x92 => self.call()?,
            b'i' | b'o' => self.instance()?,
            b'b' => self.build()?,
            b'Q' => {
                let id = self.pop()?;
                self.push(Item::Persistent(id))?;
            }
            other => {
                let why = match opcode::name(other) {
                    Some(name) => format!("opcode {name} is not read"),
                    None => format!("{other:02x} is no opcode of pickles"),
                };
                return self.scan.fail_at(self.at, why);
            }
        }
        Ok(None)
    }

    /// Refuses the current opcode.
    fn fail<T>(&self, why: &str) -> Result<T> {
        let name = opcode::name(self.opcode).unwrap_or_default();
        self.scan.fail_at(self.at, format!("opcode {name}: {why}"))
    }

    /// Counts memory before it is allocated.
    fn spend(&mut self, bytes: usize) -> Result<()> {
        self.limits.charge(to_u64(bytes))
    }

    /// Pushes an item.
    fn stack(&mut self, id: Id) -> Result<()> {
        spend_growth(&mut self.stack, self.limits)?;
        self.stack.push(id);
        Ok(())
    }

    fn mark(&mut self) -> Result<()> {
        spend_growth(&mut self.marks, self.limits)?;
        self.marks.push(self.stack.len());
        Ok(())
    }

    fn make(&mut self, item: Item) -> Result<Id> {
        // A growing list is half empty at worst.
        self.spend(size_of::<Node>().saturating_mul(2))?;
        let Ok(id) = u32::try_from(self.nodes.len()) else {
            return self.fail("more than 2^32 items");
        };
        memory::push(&mut self.nodes, Node { at: self.at, item })?;
        Ok(Id(id))
    }

    fn push(&mut self, item: Item) -> Result<()> {
        let id = self.make(item)?;
        self.stack(id)
    }

    /// The stack height at the last mark.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn top(&self) -> Result<Id> {
        match self.stack.last() {
            Some(top) if self.stack.len() > self.floor() => Ok(*top),
            _ => self.fail("the stack is empty"),
        }
    }

    fn pop(&mut self) -> Result<Id> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    /// Pops the last item, or a mark on top of the stack.
    fn discard(&mut self) -> Result<()> {
        if self.marks.last() == Some(&self.stack.len()) {
            self.marks.pop();
            return Ok(());
        }
        self.pop().map(drop)
    }

    /// Pops all items that were pushed since the last mark.
    fn marked(&mut self) -> Result<Vec<Id>> {
        let Some(mark) = self.marks.pop() else {
            return self.fail("there is no mark");
        };
        let marked = self.stack.get(mark..).unwrap_or_default().len();
        self.spend(marked.saturating_mul(size_of::<[Id; 2]>()))?;
        let items = memory::copied(self.stack.get(mark..).unwrap_or_default())?;
        self.stack.truncate(mark);
        Ok(items)
    }

    fn protocol(&mut self) -> Result<()> {
        let protocol = self.scan.u8()?;
        match protocol {
            0..=LAST_PROTOCOL => Ok(()),
            other => {
                let why = format!("protocol {other}, {LAST_PROTOCOL} is the last that is known");
                self.scan.fail_at(self.at, why)
            }
        }
    }

    fn constant(&mut self) -> Result<()> {
        let id = match self.constants.get(&self.opcode) {
            Some(id) => *id,
            None => {
                let id = self.make(match self.opcode {
                    0x88 => Item::Bool(true),
                    0x89 => Item::Bool(false),
                    b')' => Item::Tuple(Box::default()),
                    _ => Item::None,
                })?;
                self.constants.insert(self.opcode, id);
                id
            }
        };
        self.stack(id)
    }

    fn whole(&mut self) -> Result<()> {
        let number = match self.opcode {
            b'K' => i64::from(self.scan.u8()?),
            b'M' => i64::from(u16::from_le_bytes(self.scan.array()?)),
            b'J' => i64::from(i32::from_le_bytes(self.scan.array()?)),
            _ => {
                let len = match self.opcode {
                    0x8a => self.scan.u8()?.into(),
                    _ => self.scan.u32(Endian::Little)?.into(),
                };
                let bytes = self.taken(len)?;
                match small(&bytes) {
                    Some(number) => number,
                    None => return self.push(Item::Long(bytes.into())),
                }
            }
        };
        self.push(Item::Int(number))
    }

    /// The next `len` bytes, if there are as many.
    fn taken(&mut self, len: u64) -> Result<Vec<u8>> {
        self.scan.keep(len, self.limits)
    }

    /// The length after an opcode.
    fn len(&mut self) -> Result<u64> {
        Ok(match self.opcode {
            b'U' | b'C' | 0x8c => self.scan.u8()?.into(),
            b'X' | b'T' | b'B' => self.scan.u32(Endian::Little)?.into(),
            _ => self.scan.u64(Endian::Little)?,
        })
    }

    fn text(&mut self) -> Result<()> {
        let len = self.len()?;
        let bytes = self.taken(len)?;
        let is_old = matches!(self.opcode, b'T' | b'U');
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            // Text of Python 2 has no declared encoding.
            Err(error) if is_old => { error.as_bytes().iter() }
                .copied()
                .map(char::from)
                .collect(),
            Err(_) => return self.fail("a text is not UTF-8"),
        };
        self.push(Item::Text(text.into()))
    }

    fn bytes(&mut self) -> Result<()> {
        let len = self.len()?;
        let start = self.scan.at();
        self.scan.skip(len)?;
        self.push(Item::Bytes(start..self.scan.at()))
    }

    fn get(&mut self) -> Result<()> {
        let place = match self.opcode {
            b'h' => self.scan.u8()?.into(),
            _ => self.scan.u32(Endian::Little)?,
        };
        match self.memo.get(&place) {
            Some(id) => self.stack(*id),
            None => self.fail(&format!("nothing was put at {place}")),
        }
    }

    fn put(&mut self) -> Result<()> {
        let place = match self.opcode {
            b'q' => self.scan.u8()?.into(),
            b'r' => self.scan.u32(Endian::Little)?,
            _ => u32::try_from(self.memo.len()).unwrap_or(u32::MAX),
        };
        let top = self.top()?;
        self.spend(size_of::<[(u32, Id); 2]>())?;
        memory::put(&mut self.memo, place, top)?;
        Ok(())
    }

    fn tuple(&mut self) -> Result<()> {
        let items = match self.opcode {
            b't' => self.marked()?,
            other => {
                let count = usize::from(other.saturating_sub(0x84));
                let mut items = memory::with_room(count)?;
                for _ in 0..count {
                    items.push(self.pop()?);
                }
                items.reverse();
                items
            }
        };
        self.push(Item::Tuple(items.into()))
    }

    /// The items that an opcode adds to a container.
    fn added(&mut self, single: u8, count: usize) -> Result<Vec<Id>> {
        if self.opcode != single {
            return self.marked();
        }
        self.spend(count.saturating_mul(size_of::<[Id; 4]>()))?;
        let mut items = memory::with_room(count)?;
        for _ in 0..count {
            items.push(self.pop()?);
        }
        items.reverse();
        Ok(items)
    }

    /// The item below those that an opcode popped, for modification.
    fn target(&mut self) -> Result<&mut Item> {
        let id = self.top()?;
        let place = usize::try_from(id.0).unwrap_or(usize::MAX);
        match self.nodes.get_mut(place) {
            Some(node) => Ok(&mut node.item),
            None => Err(Error::invalid("an item that was never made")),
        }
    }

    fn append(&mut self) -> Result<()> {
        let items = self.added(b'a', 1)?;
        match self.target()? {
            Item::List(own) | Item::Set(own) => memory::append(own, &items)?,
            Item::Object(object) => memory::append(&mut object.items, &items)?,
            _ => return self.fail("it is no list"),
        }
        Ok(())
    }

    fn set(&mut self) -> Result<()> {
        let pairs = self.added(b's', 2)?;
        if !pairs.len().is_multiple_of(2) {
            return self.fail("a key without a value");
        }
        match self.target()? {
            Item::Dict(own) => memory::append(own, &pairs)?,
            Item::Object(object) => memory::append(&mut object.pairs, &pairs)?,
            _ => return self.fail("it is no dict"),
        }
        Ok(())
    }

    fn global(&mut self) -> Result<()> {
        let names = match self.opcode {
            b'c' | b'i' => (self.line()?, self.line()?),
            _ => {
                let (name, module) = (self.pop()?, self.pop()?);
                let text = |id: Id| {
                    let place = usize::try_from(id.0).unwrap_or(usize::MAX);
                    match self.nodes.get(place).map(|node| &node.item) {
                        Some(Item::Text(text)) if text.len() <= MOST_LINE => Some(text.to_string()),
                        _ => None,
                    }
                };
                match (text(module), text(name)) {
                    (Some(module), Some(name)) => (module, name),
                    _ => return self.fail("a module and a name are texts"),
                }
            }
        };
        let len = names.0.len().saturating_add(names.1.len());
        self.spend(len.saturating_add(size_of::<[String; 4]>()))?;
        self.push(Item::Global(Box::new(names)))
    }

    /// Text up to the end of the line.
    fn line(&mut self) -> Result<String> {
        let mut line = Vec::new();
        loop {
            match self.scan.u8()? {
                b'\n' => break,
                byte if line.len() < MOST_LINE => line.push(byte),
                _ => return self.fail("a name without an end"),
            }
        }
        match String::from_utf8(line) {
            Ok(line) => Ok(line),
            Err(_) => self.fail("a name is not UTF-8"),
        }
    }

    /// Records a call. `NEWOBJ_EX` has keyword arguments too, which follow as the state.
    fn call(&mut self) -> Result<()> {
        let named = match self.opcode {
            0x92 => Some(self.pop()?),
            _ => None,
        };
        let (args, class) = (self.pop()?, self.pop()?);
        self.object(class, args, named)
    }

    /// Records a call whose arguments follow a mark, as Python 2 created objects.
    fn instance(&mut self) -> Result<()> {
        let (class, args) = if self.opcode == b'i' {
            self.global()?;
            let class = self.pop()?;
            (class, self.marked()?)
        } else {
            let items = self.marked()?;
            match items.split_first() {
                Some((class, args)) => (*class, args.to_vec()),
                None => return self.fail("there is no class"),
            }
        };
        let args = self.make(Item::Tuple(args.into()))?;
        self.object(class, args, None)
    }

    fn object(&mut self, class: Id, args: Id, state: Option<Id>) -> Result<()> {
        self.spend(size_of::<Object>())?;
        self.push(Item::Object(Box::new(Object {
            class,
            args,
            state,
            is_old: matches!(self.opcode, b'i' | b'o'),
            items: Vec::new(),
            pairs: Vec::new(),
        })))
    }

    fn build(&mut self) -> Result<()> {
        let state = self.pop()?;
        match self.target()? {
            Item::Object(object) => object.state = Some(state),
            _ => return self.fail("it is no object"),
        }
        Ok(())
    }
}

/// Counts the memory of a full list that grows with the next item.
fn spend_growth<T>(list: &mut Vec<T>, limits: &Limits) -> Result<()> {
    if list.len() < list.capacity() {
        return Ok(());
    }
    limits.charge_items::<T>(list.len().max(4))?;
    memory::reserve(list, 1)
}

/// An integer of any length, if it fits 64 bits.
fn small(bytes: &[u8]) -> Option<i64> {
    let is_negative = bytes.last().is_some_and(|last| last & 0x80 != 0);
    let filler = if is_negative { 0xff } else { 0 };
    let mut all = [filler; 8];
    let (low, high) = bytes.split_at(bytes.len().min(8));
    for (to, from) in all.iter_mut().zip(low) {
        *to = *from;
    }
    let number = i64::from_le_bytes(all);
    let fits = high.iter().all(|byte| *byte == filler) && (number < 0) == is_negative;
    fits.then_some(number)
}
