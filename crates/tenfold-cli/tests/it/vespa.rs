//! Vespa's text forms and feeds, from and to other files.
#![expect(clippy::unwrap_used, reason = "only tests use it")]

use std::fs;

use insta::assert_snapshot;

use crate::support::{folder_with, npy, shown, tenfold, tenfold_in, tenfold_with};

const TYPE: &str = "type=tensor<bfloat16>(x[2])";

fn rows() -> tempfile::TempDir {
    let folder = folder_with(&[("mixed.tbf", "vespa/good/mixed_f32.tbf")]);
    let values = [0.1_f32, 1.0, -2.5, 3.0, 0.0, 7.0];
    let data: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    npy(&folder, "emb.npy", "<f4", "(3, 2)", &data);
    fs::write(folder.path().join("ids.txt"), "hat\nshoe\nx y\n").unwrap();
    folder
}

#[test]
fn a_tensor_is_written_in_every_form() {
    let folder = rows();
    for form in ["short", "long", "hex", "literal"] {
        let option = format!("form={form}");
        let words = ["convert", "@/mixed.tbf", "-", "--to", "vespa-text", "--opt"];
        let ran = tenfold_in(&folder, &[&words[..], &[option.as_str()]].concat());
        assert_snapshot!(format!("form_{form}"), ran);
    }
}

#[test]
fn values_alone_need_a_type() {
    let typed = [
        "show",
        "-",
        "--from",
        "vespa-text",
        "--opt",
        "type=tensor<int8>(k{},x[2])",
    ];
    let ran = tenfold_with(typed, b"{\"a\":[1,2],\"b\":\"ff80\"}".to_vec());
    assert_snapshot!("values_alone", ran);
    let ran = tenfold_with(typed.into_iter().take(4), b"[1,2]".to_vec());
    assert_snapshot!("values_without_a_type", ran);
    let ran = tenfold_with(["show", "-"], b"tensor(x{}):{a:1, b:2.5}\n".to_vec());
    assert_snapshot!("literal_in_a_pipe", ran);
}

#[test]
fn rows_become_documents_and_come_back_with_their_ids() {
    let folder = rows();
    let options = format!("schema=doc,field=embedding,ids=@@/ids.txt,{TYPE},hex=true");
    let to = [
        "convert",
        "@/emb.npy",
        "@/feed.jsonl",
        "--to",
        "vespa-feed",
        "--opt",
    ];
    let ran = tenfold_in(&folder, &[&to[..], &[options.as_str()]].concat());
    assert_snapshot!("feed_out", shown(&folder, &ran));
    let feed = fs::read_to_string(folder.path().join("feed.jsonl")).unwrap();
    assert_snapshot!("feed_lines", feed);

    // In a pipe, and out of one.
    let from = [
        "convert",
        "-",
        "-",
        "--from",
        "vespa-feed",
        "--to",
        "vespa-text",
        "--opt",
    ];
    let back = format!("field=embedding,{TYPE}");
    let ran = tenfold_with([&from[..], &[back.as_str()]].concat(), feed.into_bytes());
    assert_snapshot!("feed_back", ran);

    let ran = tenfold_in(
        &folder,
        &["convert", "@/emb.npy", "-", "--to", "vespa-feed"],
    );
    assert_snapshot!("feed_plain", ran);
    let again = tenfold_with(
        ["convert", "-", "-", "--from", "vespa-feed"],
        ran.out.clone(),
    );
    assert_eq!(again.text(), ran.text());
}

#[test]
fn what_does_not_fit_a_feed_is_refused() {
    let folder = rows();
    let to = ["convert", "@/emb.npy", "-", "--to", "vespa-feed", "--opt"];
    for (name, option) in [
        ("other_rows", "type=tensor(x[3])"),
        ("no_type", "type=tensor(x[3)"),
        ("few_ids", "ids=one"),
        ("unknown", "colour=red"),
        ("no_file", "ids=@nowhere.txt"),
    ] {
        let ran = tenfold_in(&folder, &[&to[..], &[option]].concat());
        assert_snapshot!(format!("feed_{name}"), shown(&folder, &ran));
    }
    let line = "{\"put\":\"id:n:s::a\",\"fields\":{\"e\":[1,2]}}\n";
    let lacking = format!("{line}{{\"put\":\"id:n:s::b\",\"fields\":{{\"f\":1}}}}\n");
    let from = [
        "show",
        "-",
        "--from",
        "vespa-feed",
        "--opt",
        "field=e,type=tensor(x[2])",
    ];
    assert_snapshot!("feed_lacking", tenfold_with(from, lacking.into_bytes()));
    assert_snapshot!("feed_read", tenfold_with(from, line.as_bytes().to_vec()));
}

#[test]
fn the_formats_say_what_they_understand() {
    assert_snapshot!("formats_text", tenfold(["formats", "vespa-text"]));
    assert_snapshot!("formats_feed", tenfold(["formats", "vespa-feed"]));
}

/// Two documents of a field with a mapped dimension, as a visit prints them.
const MAPPED: &str = concat!(
    r#"{"id":"id:shop:item::hat","fields":{"title":"a hat","e":{"type":"tensor<float>(category{},x[2])","#,
    r#""blocks":{"warm":[1.0,2.0],"red":[0.5,-1.0]}}}}"#,
    "\n",
    r#"{"id":"id:shop:item::shoe","fields":{"e":{"blocks":{"red":[3.0,4.0]}}}}"#,
    "\n"
);

#[test]
fn fields_with_mapped_dimensions_keep_their_ids_in_pipes() {
    let words = ["show", "-", "--from", "vespa-feed", "--opt", "field=e"];
    let ran = tenfold_with(words, MAPPED.into());
    assert_snapshot!("mapped_shown", ran);
    let words = [
        "convert",
        "-",
        "-",
        "--opt",
        "field=e,others=drop",
        "--from",
        "vespa-feed",
    ];
    let binary = tenfold_with(words.into_iter().chain(["--to", "vespa"]), MAPPED.into());
    let said = "file metadata vespa-feed:namespace, vespa-feed:schema, vespa-feed:field is dropped";
    assert_eq!(binary.errors, format!("tenfold: -: metadata: {said}\n"));
    let words = "convert - - --from vespa --to vespa-feed --opt schema=item,namespace=shop,field=e";
    let lines = tenfold_with(words.split(' '), binary.out.clone());
    assert_snapshot!("mapped_lines", lines);
    let words = "convert - - --from vespa --to vespa-feed --opt";
    let hex = "type=tensor<bfloat16>(category{},x[2]),hex=true";
    let lines = tenfold_with(words.split(' ').chain([hex]), binary.out.clone());
    assert_snapshot!("mapped_hex", lines);
    let other = "type=tensor<float>(category{},x[3])";
    let refused = tenfold_with(words.split(' ').chain([other]), binary.out);
    assert_snapshot!("mapped_other_type", refused);
}

#[test]
fn of_several_mapped_dimensions_one_has_to_be_that_of_the_documents() {
    let text = br#"tensor(a{},b{}):{{a:p,b:q}:1.0, {a:r,b:q}:2.0}"#;
    let words = "convert - - --to vespa-feed";
    assert_snapshot!("no_id", tenfold_with(words.split(' '), text.to_vec()));
    let words = "convert - - --to vespa-feed --dims a,id";
    assert_snapshot!("id_named", tenfold_with(words.split(' '), text.to_vec()));
}
