//! `tenfold formats`.

use insta::assert_snapshot;
use serde_json::Value;
use tenfold::formats::named;

use crate::support::tenfold;

#[test]
fn all_formats_are_listed_a_line_each() {
    let ran = tenfold(["formats"]);
    let text = ran.text();
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let mut expected: Vec<&str> = named().map(|format| format.info().name).collect();
    expected.insert(0, "name");
    let formats: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !name.contains('@'))
        .collect();
    assert_eq!(formats, expected);
    assert_eq!(
        names.len(),
        expected.len() + 4,
        "versions that hold something else"
    );
    assert_snapshot!(ran);
}

#[test]
fn all_formats_are_in_the_json() {
    let json: Value = serde_json::from_str(&tenfold(["formats", "--json"]).text()).unwrap();
    assert_eq!(json["schema"], "tenfold.formats/1");
    for (format, listed) in named().zip(json["formats"].as_array().unwrap()) {
        assert_eq!(listed["name"], format.info().name);
    }
}

#[test]
fn one_format_is_told_in_full() {
    assert_snapshot!("one", tenfold(["formats", "tens"]));
    assert_snapshot!("one_json", tenfold(["formats", "tens", "--json"]));
}
