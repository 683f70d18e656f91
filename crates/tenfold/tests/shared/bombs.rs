//! Files that say much in few bytes, of every format.
//!
//! What is repeated in each has [`BOMB_LEN`](crate::BOMB_LEN) bytes.
#![expect(
    clippy::as_conversions,
    clippy::type_complexity,
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise, and each list is used once"
)]

use crate::BOMB_LEN as LEN;

/// A file of a format.
pub(crate) struct Bomb {
    pub(crate) name: String,
    pub(crate) format: &'static str,
    pub(crate) bytes: Vec<u8>,
    pub(crate) options: Vec<(&'static str, &'static str)>,
}

fn bomb(format: &'static str, name: &str, parts: &[&[u8]]) -> Bomb {
    Bomb {
        name: name.into(),
        format,
        bytes: parts.concat(),
        options: Vec::new(),
    }
}

/// A unit as often as it takes to fill [`LEN`] bytes, and how often that is.
fn many(unit: &[u8]) -> (Vec<u8>, u32) {
    let count = LEN / unit.len();
    (unit.repeat(count), u32::try_from(count).unwrap())
}

/// Units with a number of eight digits between their halves.
fn numbered(before: &[u8], after: &[u8]) -> (Vec<u8>, u32) {
    let count = u32::try_from(LEN / (before.len() + 8 + after.len())).unwrap();
    let unit = |number: u32| [before, format!("{number:08}").as_bytes(), after].concat();
    ((0..count).flat_map(unit).collect(), count)
}

fn le(number: usize) -> [u8; 8] {
    (number as u64).to_le_bytes()
}

/// Pickles as PyTorch wrote them before 1.6: the bomb is what names the tensors.
fn pickles() -> Vec<Bomb> {
    const HEAD: &[u8] =
        b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.\x80\x02}.";
    let simple: &[(&str, &[u8])] = &[
        ("lists", b"]"),
        ("dicts", b"}"),
        ("none", b"N"),
        ("marks", b"("),
        ("twice", b"N2"),
        ("numbers", b"K\x01"),
        ("floats", b"G\x00\x00\x00\x00\x00\x00\x00\x00"),
        ("texts", b"U\x01a"),
        ("empty texts", b"U\x00"),
        ("memo", b"N\x94"),
        ("tuples", b"]\x85"),
        ("marked tuples", b"(t"),
        ("names", b"ca\nb\n"),
        ("calls", b"ca\nb\n)R"),
        ("built", b"ca\nb\n)R}b"),
        ("persistent", b"NQ"),
    ];
    let mut bombs: Vec<Bomb> = simple
        .iter()
        .map(|(name, unit)| bomb("torch", name, &[HEAD, b"\x80\x04", &many(unit).0, b"."]))
        .collect();
    let around: &[(&str, &[u8], &[u8], &[u8])] = &[
        ("a list", b"](", b"K\x01", b"e."),
        ("a list, one by one", b"]", b"K\x01a", b"."),
        ("a dict", b"}(", b"K\x01]", b"u."),
        ("a dict, one by one", b"}", b"K\x01]s", b"."),
        ("lists in a list", b"](", b"]K\x01a", b"e."),
        ("a set", b"\x8f(", b"K\x01", b"\x90."),
    ];
    bombs.extend(around.iter().map(|(name, before, unit, after)| {
        bomb(
            "torch",
            name,
            &[HEAD, b"\x80\x04", before, &many(unit).0, after],
        )
    }));
    let (entries, _) = numbered(b"X\x08\x00\x00\x00", b"K\x01");
    bombs.push(bomb(
        "torch",
        "a dict of names",
        &[HEAD, b"\x80\x04}(", &entries, b"u."],
    ));
    bombs
}

/// zTensor 0.1 around an index.
fn first_generation(index: &[u8]) -> Vec<u8> {
    [b"ZTEN0001".as_slice(), &[0; 56], index, &le(index.len())].concat()
}

/// A CBOR array or map of so many items.
fn cbor(kind: u8, count: u32) -> Vec<u8> {
    [&[kind | 26], count.to_be_bytes().as_slice()].concat()
}

const ARRAY: u8 = 0x80;
const MAP: u8 = 0xa0;

/// Values of CBOR that are small in a file.
fn values() -> Vec<(String, Vec<u8>)> {
    let simple: &[(&str, &[u8])] = &[
        ("numbers", b"\x00"),
        ("truths", b"\xf4"),
        ("lists", b"\x80"),
        ("maps", b"\xa0"),
        ("texts", b"\x60"),
        ("letters", b"\x61a"),
        ("bytes", b"\x41a"),
        ("tags", b"\xc1\x00"),
        ("tags of tags", b"\xc1\xc1\xc1\xc1\x00"),
        ("lists of lists", b"\x81\x81\x81\x80"),
        ("maps of one", b"\xa1\x00\x00"),
    ];
    let mut all: Vec<(String, Vec<u8>)> = simple
        .iter()
        .map(|(name, unit)| {
            let (items, count) = many(unit);
            ((*name).to_owned(), [cbor(ARRAY, count), items].concat())
        })
        .collect();
    let count = u32::try_from(LEN / 6).unwrap();
    let pairs = (0..count).flat_map(|key| [&[0x1a], key.to_be_bytes().as_slice(), &[0]].concat());
    all.push(("a map".into(), [cbor(MAP, count), pairs.collect()].concat()));
    all
}

const TENSOR_0_1: &[u8] =
    b"\xbf\x64name\x61w\x66offset\x18\x40\x64size\x00\x65dtype\x65uint8\x65shape\x81\x00\
    \x68encoding\x63raw";

fn ztensors() -> Vec<Bomb> {
    let mut bombs = Vec::new();
    for (name, value) in values() {
        let index = [b"\x81", TENSOR_0_1, b"\x61x", &value, b"\xff"].concat();
        bombs.push(bomb(
            "ztensor",
            &format!("0.1, {name}"),
            &[&first_generation(&index)],
        ));
        let index = [
            b"\xa2\x67objects\xa0\x6aattributes\xa1\x61x",
            value.as_slice(),
        ]
        .concat();
        bombs.push(bomb(
            "ztensor",
            &format!("1.2, {name}"),
            &[b"ZTEN1000", &[0; 56], &index, &le(index.len()), b"ZTEN1000"],
        ));
    }
    let (fields, _) = numbered(b"\x68", b"\x00");
    let index = [b"\x81", TENSOR_0_1, fields.as_slice(), b"\xff"].concat();
    bombs.push(bomb("ztensor", "0.1, fields", &[&first_generation(&index)]));
    let (tensors, count) = numbered(
        b"\xa6\x64name\x68",
        b"\x66offset\x18\x40\x64size\x00\x65dtype\x65uint8\x65shape\x81\x00\x68encoding\x63raw",
    );
    let index = [cbor(ARRAY, count), tensors].concat();
    bombs.push(bomb(
        "ztensor",
        "0.1, tensors",
        &[&first_generation(&index)],
    ));
    for (name, before, object) in [
        (
            "1.2, objects",
            b"\xa1\x67objects".as_slice(),
            b"\xa0".as_slice(),
        ),
        (
            "1.2, components",
            b"\xa1\x67objects\xa1\x61w\xa1\x6acomponents",
            b"\xa0",
        ),
    ] {
        let (entries, count) = numbered(b"\x68", object);
        let index = [before, &cbor(MAP, count), &entries].concat();
        bombs.push(bomb(
            "ztensor",
            name,
            &[b"ZTEN1000", &[0; 56], &index, &le(index.len()), b"ZTEN1000"],
        ));
    }
    bombs.extend(second_generation());
    bombs
}

fn second_generation() -> Vec<Bomb> {
    let mut bombs = Vec::new();
    let mut add = |name: &str, index: Vec<u8>| {
        let hash = xxhash_rust::xxh3::xxh3_64(&index);
        let mut file = b"\x89ZT2\r\n\x1a\n".to_vec();
        file.resize(4096, 0);
        file.extend(&index);
        file.extend([le(4096), le(index.len()), hash.to_le_bytes()].concat());
        file.extend(b"\x02\0\0\0\0\0\0\0\x89ZT2\r\n\x1a\n");
        bombs.push(bomb("ztensor", &format!("2, {name}"), &[&file]));
    };
    for (name, value) in values() {
        add(
            &name,
            [
                b"\xa2\x67objects\xa0\x6aattributes\xa1\x61x",
                value.as_slice(),
            ]
            .concat(),
        );
    }
    let part = b"\xa2\x64blob\x82\x19\x10\x00\x00\x65dtype\x62u8";
    let object = [
        b"\xa3\x65parts\xa1\x64data".as_slice(),
        part,
        b"\x65shape\x81\x00\x66layout\x65dense",
    ];
    let (objects, count) = numbered(b"\x68", &object.concat());
    add(
        "objects",
        [b"\xa1\x67objects".as_slice(), &cbor(MAP, count), &objects].concat(),
    );
    let (parts, count) = numbered(b"\x68", part);
    let before = b"\xa1\x67objects\xa1\x61w\xa3\x65parts";
    let after = b"\x65shape\x81\x00\x66layout\x61x";
    add(
        "parts",
        [before, cbor(MAP, count).as_slice(), &parts, after].concat(),
    );
    let (ignored, count) = numbered(b"\x68", b"\x00");
    add(
        "keys without a meaning",
        [
            cbor(MAP, count + 1),
            ignored,
            b"\x6aattributes\xa0".to_vec(),
        ]
        .concat(),
    );
    bombs
}

fn ggufs() -> Vec<Bomb> {
    let head = |n_tensors: usize, n_values: usize| {
        [b"GGUF\x03\0\0\0".as_slice(), &le(n_tensors), &le(n_values)].concat()
    };
    let array = |kind: u32, items: &[u8], count: u32| {
        let kind = kind.to_le_bytes();
        let name = [le(1).as_slice(), b"a", &9_u32.to_le_bytes()].concat();
        [
            head(0, 1),
            name,
            kind.to_vec(),
            le(count as usize).to_vec(),
            items.to_vec(),
        ]
        .concat()
    };
    let mut bombs = Vec::new();
    for (name, kind, unit) in [
        ("bytes", 0, b"\x01".as_slice()),
        ("truths", 7, b"\x01"),
        ("empty texts", 8, &[0; 8]),
        ("letters", 8, b"\x01\0\0\0\0\0\0\0a"),
        ("lists", 9, b"\x00\0\0\0\0\0\0\0\0\0\0\0"),
    ] {
        let (items, count) = many(unit);
        bombs.push(bomb("gguf", name, &[&array(kind, &items, count)]));
    }
    let (pairs, count) = numbered(&le(8), b"\x00\0\0\0\x01");
    bombs.push(bomb("gguf", "pairs", &[&head(0, count as usize), &pairs]));
    let (tensors, count) = numbered(&le(8), &[0; 16]);
    bombs.push(bomb(
        "gguf",
        "tensors",
        &[&head(count as usize, 0), &tensors],
    ));
    bombs
}

fn texts() -> Vec<Bomb> {
    let safetensors =
        |name: &str, header: &[u8]| bomb("safetensors", name, &[&le(header.len()), header]);
    let (metadata, _) = numbered(b",\"", b"\":\"\"");
    let empty = b"\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
    let (tensors, _) = numbered(b",\"", empty);
    let mut bombs = vec![
        safetensors(
            "metadata",
            &[
                b"{\"__metadata__\":{\"a\":\"\"".as_slice(),
                &metadata,
                b"}}",
            ]
            .concat(),
        ),
        safetensors(
            "tensors",
            &[b"{\"__metadata__\":{}".as_slice(), &tensors, b"}"].concat(),
        ),
        safetensors("spaces", &[many(b" ").0.as_slice(), b"{}"].concat()),
    ];
    let tensor = b"version: 100\ntype: Tensor\nscalarType: Real64\ndimensions:\n";
    let yaml: &[(&str, &[u8], &[u8], &[u8])] = &[
        ("items", tensor, b"- a\n", b""),
        ("a flow of letters", b"a: [", b"a,", b"]\n"),
        ("a flow of lists", b"a: [", b"[],", b"]\n"),
        ("a flow of maps", b"a: [", b"{},", b"]\n"),
        ("a flow of pairs", b"a: [", b"a: b,", b"]\n"),
        ("quoted letters", b"a: [", b"'a',", b"]\n"),
        ("escaped letters", b"a: [", b"\"\\x41\",", b"]\n"),
        ("a long text", b"a: \"", b"a", b"\"\n"),
        ("a block", b"a: |\n", b"  a\n", b""),
        ("brackets", b"a: ", b"[", b"\n"),
        ("dashes", b"", b"- ", b"a\n"),
        ("comments", b"", b"#\n", b"a: b\n"),
    ];
    bombs
        .extend(yaml.iter().map(|(name, before, unit, after)| {
            bomb("cc4s", name, &[before, &many(unit).0, after])
        }));
    let (keys, _) = numbered(b"a", b": b\n");
    bombs.push(bomb("cc4s", "keys", &[&keys]));
    let namelists: &[(&str, &[u8], &[u8])] = &[
        ("numbers", b"ORBSYM=", b"1,"),
        ("words", b"X=", b"a,"),
        ("quoted", b"X=", b"'',"),
        ("lines", b"ORBSYM=", b"1\n"),
        ("empty settings", b"", b"a="),
        ("equals", b"", b"="),
    ];
    bombs.extend(namelists.iter().map(|(name, before, unit)| {
        bomb(
            "fcidump",
            name,
            &[b"&FCI NORB=1,", before, &many(unit).0, b"\n&END\n"],
        )
    }));
    let (settings, _) = numbered(b"a", b"=1,");
    bombs.push(bomb(
        "fcidump",
        "settings",
        &[b"&FCI NORB=1,", &settings, b"\n&END\n"],
    ));
    let banner = b"%%MatrixMarket matrix coordinate real general\n";
    for (name, line) in [
        ("comments", b"%\n".as_slice()),
        ("carried", b"%tenfold:\n"),
        ("letters", b"%a\n"),
    ] {
        bombs.push(bomb("mtx", name, &[banner, &many(line).0, b"1 1 0\n"]));
        bombs.push(bomb(
            "mtx",
            &format!("{name} on one line"),
            &[banner, b"%", &many(b"a").0, b"\n1 1 0\n"],
        ));
    }
    for (name, line) in [
        ("comments", b"#\n".as_slice()),
        ("carried", b"#tenfold:x\n"),
        ("fields", b"1 "),
    ] {
        bombs.push(bomb("tns", name, &[&many(line).0, b"\n1 1 1\n"]));
    }
    bombs.extend(vespas());
    bombs
}

fn vespas() -> Vec<Bomb> {
    let mut bombs = Vec::new();
    let (cells, _) = numbered(b",\"", b"\":1");
    bombs.push(bomb(
        "vespa-text",
        "cells",
        &[
            b"{\"type\":\"tensor(x{})\",\"cells\":{\"a\":1",
            &cells,
            b"}}",
        ],
    ));
    let (cells, _) = numbered(b",{\"address\":{\"x\":\"", b"\"},\"value\":1}");
    bombs.push(bomb(
        "vespa-text",
        "addresses",
        &[
            b"{\"type\":\"tensor(x{})\",\"cells\":[{\"address\":{\"x\":\"a\"},\"value\":1}",
            &cells,
            b"]}",
        ],
    ));
    for (name, before, unit, after) in [
        (
            "values",
            b"{\"type\":\"tensor(x[1])\",\"values\":[1".as_slice(),
            b",1".as_slice(),
            b"]}".as_slice(),
        ),
        (
            "members",
            b"{\"type\":\"tensor(x[1])\",\"values\":[1],\"a\":[0",
            b",0",
            b"]}",
        ),
        (
            "lists",
            b"{\"type\":\"tensor(x[1])\",\"values\":[1],\"a\":[[]",
            b",[]",
            b"]}",
        ),
        (
            "brackets",
            b"{\"type\":\"tensor(x[1])\",\"values\":",
            b"[",
            b"",
        ),
        ("a literal", b"tensor(x[1]):[1", b",1", b"]"),
        ("a literal of brackets", b"tensor(x[1]):", b"[", b""),
    ] {
        bombs.push(bomb("vespa-text", name, &[before, &many(unit).0, after]));
    }
    let (cells, _) = numbered(b",", b":1");
    bombs.push(bomb(
        "vespa-text",
        "a literal of cells",
        &[b"tensor(x{}):{a:1", &cells, b"}"],
    ));
    let (documents, _) = numbered(
        b"{\"put\":\"id:a:b::",
        b"\",\"fields\":{\"t\":{\"type\":\"tensor(x[1])\",\"values\":[1]}}}\n",
    );
    bombs.push(bomb("vespa-feed", "documents", &[&documents]));
    let (documents, _) = numbered(
        b"{\"put\":\"id:a:b::",
        b"\",\"fields\":{\"u\":1,\"t\":{\"type\":\"tensor(x[1])\",\"values\":[1]}}}\n",
    );
    bombs.push(bomb("vespa-feed", "other fields", &[&documents]));
    let (fields, _) = numbered(b",\"", b"\":1");
    bombs.push(bomb(
        "vespa-feed",
        "fields of one",
        &[
            b"{\"put\":\"id:a:b::c\",\"fields\":{\"t\":{\"type\":\"tensor(x[1])\",\"values\":[1]}",
            &fields,
            b"}}\n",
        ],
    ));
    for bomb in &mut bombs {
        if bomb.format == "vespa-feed" {
            bomb.options = vec![("field", "t")];
        }
    }
    bombs
}

fn others() -> Vec<Bomb> {
    let number = |number: u32| [&[0xce], number.to_be_bytes().as_slice()].concat();
    let head = |kind: u32| [number(0), number(1), number(kind)].concat();
    let scalar = b"\x90\xce\0\0\0\x01\xc4\x04\0\0\xc0\x3f";
    let mut bombs = Vec::new();
    let (parameters, count) = numbered(b"\x91\xa8", &[scalar.as_slice(), &number(0)].concat());
    bombs.push(bomb(
        "primitiv",
        "parameters",
        &[&head(0x300), &number(count), &parameters],
    ));
    let (statistics, count) = numbered(b"\xa8", scalar);
    bombs.push(bomb(
        "primitiv",
        "statistics",
        &[&head(0x200), scalar, &number(count), &statistics],
    ));
    let (segments, count) = many(b"\xa1a");
    let array = [&[0xdd], count.to_be_bytes().as_slice()].concat();
    bombs.push(bomb(
        "primitiv",
        "segments",
        &[&head(0x300), &number(1), &array, &segments],
    ));
    let (configs, count) = numbered(b"\xa8", &number(1));
    let map = [&[0xdf], count.to_be_bytes().as_slice()].concat();
    bombs.push(bomb(
        "primitiv",
        "configs",
        &[&head(0x400), &map, &configs, b"\x80"],
    ));

    let npy = |text: &[u8]| {
        let len = u32::try_from(text.len()).unwrap().to_le_bytes();
        [b"\x93NUMPY\x02\x00".as_slice(), &len, text].concat()
    };
    let before = b"{'descr': '<f8', 'fortran_order': False, 'shape': (";
    bombs.push(bomb(
        "npy",
        "spaces",
        &[&npy(
            &[before.as_slice(), b"), }", &many(b" ").0, b"\n"].concat()
        )],
    ));
    bombs.push(bomb(
        "npy",
        "sizes",
        &[&npy(
            &[before.as_slice(), &many(b"1,").0, b"), }\n"].concat()
        )],
    ));
    let structured = b"{'descr': [('a', '<f8')";
    bombs.push(bomb(
        "npy",
        "fields",
        &[&npy(&[
            structured.as_slice(),
            &many(b",('a','<f8')").0,
            b"], 'fortran_order': False, 'shape': (), }\n",
        ]
        .concat())],
    ));

    bombs.push(members());
    bombs
}

/// A zip archive whose directory lists one empty member again and again.
fn members() -> Bomb {
    let local = [
        b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0".as_slice(),
        &[0; 12],
        b"\x08\0\0\0aaaa.npy",
    ]
    .concat();
    let entry = [
        b"PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0".as_slice(),
        &[0; 12],
        b"\x08\0\0\0\0\0\0\0\0\0",
        &[0; 8],
        b"aaaa.npy",
    ]
    .concat();
    let (entries, count) = many(&entry);
    let at = local.len();
    let wide = [
        b"PK\x06\x06".as_slice(),
        &le(44),
        &[45, 0, 45, 0],
        &[0; 8],
        &le(count as usize),
        &le(count as usize),
        &le(entries.len()),
        &le(at),
    ]
    .concat();
    let locator = [
        b"PK\x06\x07\0\0\0\0".as_slice(),
        &le(at + entries.len()),
        b"\x01\0\0\0",
    ]
    .concat();
    let end = [b"PK\x05\x06\0\0\0\0".as_slice(), &[0xff; 12], b"\0\0"].concat();
    bomb("npz", "members", &[&local, &entries, &wide, &locator, &end])
}

/// All of them, each group made when it is its turn: they are large.
pub(crate) fn bombs() -> impl Iterator<Item = Bomb> {
    let makers = [pickles, ztensors, ggufs, texts, others];
    makers.into_iter().flat_map(|maker| maker())
}
