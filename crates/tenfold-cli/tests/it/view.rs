//! What `tenfold view` answers, against what `tenfold show --json` prints.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "only tests use it"
)]

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{corpus, npy, tenfold};
use crate::viewer::Viewer;

/// All files of the corpus that open.
fn files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for format in std::fs::read_dir(corpus("")).unwrap() {
        let Ok(good) = std::fs::read_dir(format.unwrap().path().join("good")) else {
            continue;
        };
        let paths = good.map(|file| file.unwrap().path());
        found.extend(paths.filter(|path| {
            let is_file = path.is_file() && path.extension().is_none_or(|end| end != "json");
            is_file && tenfold(["info".as_ref(), path.as_os_str()]).exit.code() == 0
        }));
    }
    found.sort();
    found
}

/// A number of `show --json` as a table has it.
fn text(value: &Value) -> String {
    let bare = |value: &Value| match value.as_str() {
        Some("Infinity") => "inf".to_owned(),
        Some("-Infinity") => "-inf".to_owned(),
        Some(word) => word.to_owned(),
        // Numbers as long as these are read with a plus that nobody wrote.
        None => value.to_string().replace("e+", "e"),
    };
    match value.as_array().map(Vec::as_slice) {
        None => bare(value),
        Some([real, imaginary]) => {
            let imaginary = bare(imaginary);
            let plus = if imaginary.starts_with('-') { "" } else { "+" };
            format!("{}{plus}{imaginary}j", bare(real))
        }
        Some(parts) => parts.iter().map(bare).collect::<Vec<_>>().join(" "),
    }
}

/// The cells of a tensor as `show --json` prints them: all, or those that are there.
fn cells(shown: &Value) -> Option<HashMap<Vec<u64>, String>> {
    let shape: Option<Vec<u64>> = shown["shape"]
        .as_array()?
        .iter()
        .map(Value::as_u64)
        .collect();
    let shape = shape?;
    if let Some(data) = shown["data"].as_array() {
        let index = |mut place: usize| {
            let mut index = Vec::new();
            for size in shape.iter().rev() {
                let size = usize::try_from(*size).unwrap();
                index.push(u64::try_from(place % size).unwrap());
                place /= size;
            }
            index.reverse();
            index
        };
        let cells = data.iter().enumerate();
        return Some(
            cells
                .map(|(place, value)| (index(place), text(value)))
                .collect(),
        );
    }
    let cells = shown["cells"].as_array()?.iter().map(|cell| {
        let at = cell["at"].as_array().unwrap().iter();
        (
            at.map(|place| place.as_u64().unwrap()).collect(),
            text(&cell["data"][0]),
        )
    });
    Some(cells.collect())
}

#[test]
fn values_of_every_format_are_those_that_show_prints() {
    let files = files();
    assert!(files.len() > 150, "{}", files.len());
    let viewer = Viewer::of(&files);
    let listed = viewer.json("/api/files");
    assert_eq!(listed["schema"], "tenfold.view.files/1");
    let (mut n_tensors, mut n_drawn) = (0, 0);
    for (number, path) in files.iter().enumerate() {
        let ran = tenfold([
            "show".as_ref(),
            "--json".as_ref(),
            "--dequantize".as_ref(),
            path.as_os_str(),
        ]);
        let Ok(shown) = serde_json::from_str::<Value>(&ran.text()) else {
            continue; // what cannot be printed is tested elsewhere
        };
        let tensors = viewer.json(&format!("/api/tensors?file={number}"));
        let shown = shown["tensors"].as_array().unwrap();
        assert_eq!(tensors["names"].as_array().unwrap().len(), shown.len());
        for (place, shown) in shown.iter().enumerate().take(40) {
            let about = format!("file={number}&tensor={place}");
            let tensor = viewer.json(&format!("/api/tensor?{about}"));
            n_tensors += 1;
            assert_eq!(tensors["names"][place], shown["name"]);
            // A size that a browser would round is a string.
            let shape = tensors["shapes"][place].to_string().replace('"', "");
            assert_eq!(shape, shown["shape"].to_string());
            assert_eq!(tensor["metadata"], shown["metadata"], "{path:?}");
            if tensor["drawable"] == true
                && let Some(cells) = cells(shown)
            {
                compare(&viewer, &about, shown, &cells);
                n_drawn += 1;
            }
        }
    }
    assert!(n_tensors > 200 && n_drawn > 150, "{n_tensors} {n_drawn}");
}

/// Compares the last two axes, in the middle of the others.
fn compare(viewer: &Viewer, about: &str, shown: &Value, cells: &HashMap<Vec<u64>, String>) {
    let shape = shown["shape"].as_array().unwrap().iter();
    let shape: Vec<u64> = shape.map(|size| size.as_u64().unwrap()).collect();
    if shape.contains(&0) {
        return;
    }
    let at: Vec<u64> = shape.iter().map(|size| size / 2).collect();
    let last = shape.len().checked_sub(1);
    let (rows, columns) = match last {
        None => (None, None),
        Some(0) => (Some(0), None),
        Some(last) => (Some(last - 1), Some(last)),
    };
    let most = 64;
    let side = |axis: Option<usize>| axis.map_or(1, |axis| shape[axis].min(most));
    let list: Vec<String> = at.iter().map(u64::to_string).collect();
    let mut query = format!("{about}&at={}", list.join(","));
    for (axis, name, end) in [(rows, "rows", "r1"), (columns, "cols", "c1")] {
        if let Some(axis) = axis {
            query.push_str(&format!("&{name}={axis}&{end}={}", side(Some(axis))));
        }
    }
    let found = viewer.json(&format!("/api/values?{query}"));
    for row in 0..side(rows) {
        for column in 0..side(columns) {
            let mut index = at.clone();
            if let Some(axis) = rows {
                index[axis] = row;
            }
            if let Some(axis) = columns {
                index[axis] = column;
            }
            let [y, x] = [row, column].map(|at| usize::try_from(at).unwrap());
            let found = found["values"][y][x].as_str().unwrap();
            match cells.get(&index) {
                Some(cell) => assert_eq!(found, cell, "{query} {index:?}"),
                // A cell that is not there is a zero of its type.
                None => assert!(
                    !found.contains(|c: char| ('1'..='9').contains(&c)),
                    "{query}"
                ),
            }
        }
    }
    let tile = viewer.get(&format!("/api/tile?{query}&h=8&w=8"));
    assert_eq!(
        (tile.status, &tile.body[..4]),
        (200, &b"TFT1"[..]),
        "{query}"
    );
}

/// A tile, taken apart as the contract says.
struct Tile {
    sides: (usize, usize),
    is_exact: bool,
    ends: (f64, f64),
    numbers: Vec<f32>,
    flags: Vec<u8>,
}

fn tile(bytes: &[u8]) -> Tile {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let double = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let (height, width) = (word(4).try_into().unwrap(), word(8).try_into().unwrap());
    let count: usize = height * width;
    assert_eq!(bytes.len(), 32 + 13 * count);
    let numbers = bytes[32..32 + 12 * count].chunks_exact(4);
    Tile {
        sides: (height, width),
        is_exact: word(12) == 1,
        ends: (double(16), double(24)),
        numbers: numbers
            .map(|four| f32::from_le_bytes(four.try_into().unwrap()))
            .collect(),
        flags: bytes[32 + 12 * count..].to_vec(),
    }
}

/// 4 × 6 numbers with what is none among them.
fn field() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers: Vec<f32> = (0..24_u8).map(|n| f32::from(n) - 4.0).collect();
    (numbers[7], numbers[20], numbers[21]) = (f32::NAN, f32::INFINITY, f32::NEG_INFINITY);
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    let path = npy(&folder, "field.npy", "<f4", "(4, 6)", &bytes);
    (folder, path)
}

#[test]
fn pictures_are_what_the_contract_says() {
    let (_folder, path) = field();
    let viewer = Viewer::of(&[&path]);
    let whole = "file=0&tensor=0&rows=0&cols=1&at=0,0";
    let made = tile(&viewer.get(&format!("/api/tile?{whole}&h=2&w=2")).body);
    assert_eq!(
        (made.sides, made.is_exact, made.ends),
        ((2, 2), true, (-4.0, 19.0))
    );
    // Rows 0 and 1, columns 0 to 2 are -4 -3 -2 and 2, NaN, 4; and so on.
    let (min, rest) = made.numbers.split_at(4);
    let (max, mean) = rest.split_at(4);
    assert_eq!(min, [-4.0, -1.0, 8.0, 11.0]);
    assert_eq!(max, [4.0, 7.0, 15.0, 19.0]);
    let means = [-3.0 / 5.0, 3.0, 56.0 / 5.0, 73.0 / 5.0];
    assert_eq!(mean, means);
    assert_eq!(made.flags, [17, 16, 18, 20]);

    let turned = tile(
        &viewer
            .get("/api/tile?file=0&tensor=0&rows=1&cols=0&at=0,0&h=9&w=9")
            .body,
    );
    assert_eq!(turned.sides, (6, 4));
    assert_eq!(turned.numbers[..5], [-4.0, 2.0, 8.0, 14.0, -3.0]);

    let range = viewer.json(&format!("/api/range?{whole}&low=0&high=50"));
    assert_eq!(range.to_string(), r#"{"low":-4.0,"high":7.0,"exact":true}"#);
    let line = viewer.json("/api/line?file=0&tensor=0&axis=1&at=1,0&at=3,0&n=3");
    let expected = r#"{"x":[0,2,4],"lines":[{"min":[2.0,4.0,6.0],"max":[2.0,5.0,7.0],"mean":[2.0,4.5,6.5],"nan":[1,0,0]},"#
        .to_owned()
        + r#"{"min":[14.0,null,18.0],"max":[15.0,null,19.0],"mean":[14.5,null,18.5],"nan":[0,0,0]}],"exact":true}"#;
    assert_eq!(line.to_string(), expected);
    let found = viewer.json("/api/histogram?file=0&tensor=0&bins=2");
    assert_eq!(found["counts"].to_string(), "[11,10]");
    let stats = &found["stats"];
    assert_eq!(stats["count"], 24);
    assert_eq!(
        (&stats["nan"], &stats["inf"], &stats["zeros"]),
        (&1.into(), &2.into(), &1.into())
    );
    assert_eq!(
        (stats["min"].to_string(), stats["max"].to_string()),
        ("-4.0".into(), "19.0".into())
    );
    assert_eq!(
        (&found["exact"], &found["read"]),
        (&true.into(), &24.into())
    );
    let part = viewer.json("/api/histogram?file=0&tensor=0&bins=1&rows=0&cols=1&at=0,0&r1=1");
    assert_eq!(part["counts"].to_string(), "[6]");
}

#[test]
fn exports_are_what_the_commands_print() {
    let (folder, path) = field();
    let viewer = Viewer::of(&[&path]);
    let part = "file=0&tensor=0&rows=0&cols=1&at=0,0&r0=1&r1=4&c0=2&c1=5";
    let sliced = format!("{}[1:4, 2:5]", path.display());
    let json = viewer.get(&format!("/api/export?{part}&as=json"));
    assert_eq!(json.text(), tenfold(["show", "--json", &sliced]).text());
    let csv = viewer.get(&format!("/api/export?{part}&as=csv"));
    assert_eq!(csv.text(), tenfold(["show", "--csv", &sliced]).text());
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    let disposition = "attachment; filename=\"tensor.csv\"";
    assert_eq!(csv.header("content-disposition"), Some(disposition));
    let kept = folder.path().join("part.npy");
    let npy = viewer.get(&format!("/api/export?{part}&as=npy"));
    std::fs::write(&kept, npy.body).unwrap();
    let kept = kept.display().to_string();
    assert_eq!(tenfold(["show", "--csv", &kept]).text(), csv.text());
    let turned = viewer.get("/api/export?file=0&tensor=0&rows=1&cols=0&at=0,0&c1=2&r1=3&as=csv");
    assert_eq!(turned.text(), "-4.0,2.0\n-3.0,NaN\n-2.0,4.0\n");
}

#[test]
fn blocks_are_found_by_their_labels() {
    let folder = tempfile::tempdir().unwrap();
    let demo = folder.path().join("demo");
    assert_eq!(tenfold(["demo".as_ref(), demo.as_os_str()]).exit.code(), 0);
    let viewer = Viewer::of(&[demo.join("catalogue.tbf"), demo.join("integrals.tens")]);
    let all = viewer.json("/api/blocks?file=0&tensor=0&filter=&offset=0&limit=100");
    let file = demo.join("catalogue.tbf");
    let shown = tenfold(["show".as_ref(), "--json".as_ref(), file.as_os_str()]).text();
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let cells = shown["tensors"][0]["cells"].as_array().unwrap();
    assert_eq!(all["total"], cells.len());
    for (block, cell) in all["blocks"].as_array().unwrap().iter().zip(cells) {
        assert_eq!(block["labels"], cell["at"]);
        let values = cell["data"].as_array().unwrap().iter();
        assert_eq!(
            block["values"],
            Value::from_iter(values.map(|value| value.to_string()))
        );
    }
    let some = viewer.json("/api/blocks?file=0&tensor=0&filter=ROCKET&offset=0&limit=1");
    let is_rocket = |cell: &&Value| cell["at"].to_string().to_lowercase().contains("rocket");
    assert_eq!(some["matching"], cells.iter().filter(is_rocket).count());
    assert_eq!(some["blocks"].as_array().unwrap().len(), 1);
    assert_eq!(some["dims"].to_string(), r#"["brand","kind"]"#);
    let why = viewer.json("/api/tensor?file=0&tensor=0");
    assert_eq!(why["drawable"], false);
    let sparse = viewer.json("/api/blocks?file=1&tensor=0&limit=2");
    assert_eq!(sparse["dims"].to_string(), r#"["p","q","r","s"]"#);
}

#[test]
fn the_worst_cells_of_two_files_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = |numbers: &[f64]| {
        numbers
            .iter()
            .flat_map(|n| n.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let first = npy(
        &folder,
        "a.npy",
        "<f8",
        "(2, 2)",
        &bytes(&[1.0, 2.0, 3.0, 4.0]),
    );
    let second = npy(
        &folder,
        "b.npy",
        "<f8",
        "(2, 2)",
        &bytes(&[1.0, 2.5, 3.0, -4.0]),
    );
    let viewer = Viewer::of(&[first, second]);
    let found = viewer.json("/api/worst?file=0&tensor=0&with=1,0&n=1");
    assert_eq!(
        found.to_string(),
        r#"{"compared":4,"different":2,"cells":[{"at":[1,1],"a":"4.0","b":"-4.0","difference":"8.0"}],"max_abs":8.0,"exact":true}"#
    );
    let minus = tile(
        &viewer
            .get("/api/tile?file=0&tensor=0&with=1,0&rows=0&cols=1&at=0,0")
            .body,
    );
    assert_eq!(minus.numbers[..4], [0.0, -0.5, 0.0, 8.0]);
}

/// Files of 16 GiB that take no room: two orders of a matrix, and a cube.
fn huge(folder: &tempfile::TempDir) -> Vec<PathBuf> {
    let make = |name: &str, fortran: &str, shape: &str| {
        let path = npy(folder, name, "<f4", shape, &[]);
        let text = std::fs::read(&path).unwrap();
        let at = text.windows(5).position(|five| five == b"False").unwrap();
        let mut text = text;
        text[at..at + 5].copy_from_slice(fortran.as_bytes());
        std::fs::write(&path, &text).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        let len = u64::try_from(text.len()).unwrap();
        file.set_len(len + (16 << 30)).unwrap();
        path
    };
    vec![
        make("rows.npy", "False", "(65536, 65536)"),
        make("columns.npy", "True ", "(65536, 65536)"),
        make("cube.npy", "False", "(2048, 2048, 1024)"),
    ]
}

/// What a browser asks for when somebody looks at each.
fn looks() -> Vec<String> {
    let mut paths = Vec::new();
    for file in 0..3 {
        paths.push(format!("/api/tensor?file={file}&tensor=0"));
    }
    for file in 0..2 {
        let about = format!("file={file}&tensor=0&rows=0&cols=1&at=0,0");
        for (from, to) in [(0, 65536), (1000, 33000), (40000, 40512)] {
            let region = format!("r0={from}&r1={to}&c0={from}&c1={to}&h=512&w=512");
            paths.push(format!("/api/tile?{about}&{region}"));
        }
        paths.push(format!("/api/range?{about}"));
        paths.push(format!(
            "/api/line?file={file}&tensor=0&axis=1&at=5,0&n=800"
        ));
        paths.push(format!("/api/histogram?file={file}&tensor=0&bins=64"));
    }
    paths.push("/api/tile?file=2&tensor=0&rows=1&cols=2&at=7,0,0&h=512&w=512".into());
    paths.push("/api/tile?file=2&tensor=0&rows=0&cols=1&at=0,0,9&h=256&w=256".into());
    paths
}

#[test]
fn tensors_of_16_gib_are_looked_at_in_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let viewer = Viewer::of(&huge(&folder));
    for path in looks() {
        let answer = viewer.get(&path);
        assert_eq!(answer.status, 200, "{path} {}", answer.text());
        assert!(viewer.peak() < 200 << 20, "{path}: {} bytes", viewer.peak());
    }
}

#[test]
#[ignore = "prints how long things take, which no test should depend on"]
fn how_long_a_look_takes() {
    let folder = tempfile::tempdir().unwrap();
    let files = huge(&folder);
    let begun = std::time::Instant::now();
    let viewer = Viewer::of(&files);
    println!("{:>8.1?} to start", begun.elapsed());
    for path in looks() {
        let begun = std::time::Instant::now();
        assert_eq!(viewer.get(&path).status, 200);
        println!("{:>8.1?} {path}", begun.elapsed());
    }
    println!("{} MiB at most", viewer.peak() >> 20);
}
