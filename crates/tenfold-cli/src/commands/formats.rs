//! `tenfold formats`: the supported formats and their capabilities.

use tenfold::{
    Arity, Capabilities, Format, Info, Names, Number, Order, Result, SidecarSlot, formats,
};

use super::Outcome;
use crate::args::Formats;
use crate::exit::Exit;
use crate::render::Json;
use crate::terminal::{Out, Row, Streams, Table, dim_names_text, kind_text, names_text, when_text};

const SCHEMA: &str = "tenfold.formats/1";

pub(super) fn run(args: &Formats, streams: &mut Streams) -> Outcome {
    let chosen: Vec<&dyn Format> = match args.format {
        Some(format) => vec![format],
        None => formats::named().collect(),
    };
    match (args.json, chosen.as_slice()) {
        (true, chosen) => print_json(chosen, &mut streams.out)?,
        (false, [format]) if args.format.is_some() => print_one(*format, &mut streams.out)?,
        (false, chosen) => print_all(chosen, &mut streams.out)?,
    }
    Ok(Exit::Fine)
}

/// The name of a format, and its versions with other capabilities.
fn names_of(format: &dyn Format) -> Vec<(String, &'static Info)> {
    let info = format.info();
    let mut all = vec![(info.name.to_owned(), info)];
    for edition in format.versions().iter().map(|edition| edition.info()) {
        let name = format!("{}@{}", edition.name, edition.versions.join(" "));
        all.push((name, edition));
    }
    all
}

fn print_all(chosen: &[&dyn Format], out: &mut Out) -> Result<()> {
    let heads = [
        "name", "files", "versions", "tensors", "storage", "numbers", "options",
    ];
    let mut table = Table::new(&heads);
    for (name, info) in chosen.iter().flat_map(|format| names_of(*format)) {
        let mut options: Vec<&str> = Vec::new();
        for option in info.options {
            // Options for both reading and writing are listed once.
            if !options.contains(&option.name) {
                options.push(option.name);
            }
        }
        table.push(Row::new([
            name,
            extensions(info),
            versions(info),
            names_text(info.holds.names).to_owned(),
            kinds(&info.holds),
            numbers(info.holds.numbers, info.holds.arities),
            options.join(" "),
        ]));
    }
    table.print("", out)
}

fn metadata(holds: &Capabilities) -> &'static str {
    match (holds.meta.file, holds.meta.tensor) {
        (true, true) => "of the file and of each tensor",
        (true, false) => "of the file",
        (false, true) => "of each tensor",
        (false, false) => "none",
    }
}

fn print_one(format: &dyn Format, out: &mut Out) -> Result<()> {
    let info = format.info();
    let holds = &info.holds;
    let yes = |truth| if truth { "yes" } else { "no" };
    let tensors = match holds.names {
        Names::One => "one, without a name",
        Names::Flat => "any number, by name",
        Names::Tree => "any number, by path",
    };
    out.text(&format!("{}: {}\n", info.name, info.title))?;
    let mut table = Table::default();
    let mut say = |name: &str, text: &str| table.push(Row::new([name, text]));
    say("files", &extensions(info));
    say("versions", &versions(info));
    say("tensors", tensors);
    say("storage", &kinds(holds));
    say("numbers", &numbers(holds.numbers, holds.arities));
    say("dimensions", &range(holds.ndim));
    say("sizes", &range(holds.size));
    say("names of dimensions", dim_names_text(holds.dim_names));
    say("symmetries", yes(holds.symmetry));
    say("statistics", yes(holds.state));
    say("metadata", metadata(holds));
    say("carries", carries_text(holds.carries));
    for edition in format.versions().iter().map(|edition| edition.info()) {
        let version = edition.versions.join(" ");
        let holds = &edition.holds;
        let of = |what: &str| format!("{what} in {version}");
        say(&of("numbers"), &numbers(holds.numbers, holds.arities));
        say(&of("dimensions"), &range(holds.ndim));
        say(&of("metadata"), metadata(holds));
    }
    if info.options.is_empty() {
        say("options", "none");
    }
    for option in info.options {
        let name = format!("option to {}", when_text(option.when));
        let usage = format!("--opt {}={}", option.name, option.values);
        say(&name, &format!("{usage}: {}", option.about));
    }
    table.print("  ", out)
}

fn print_json(chosen: &[&dyn Format], out: &mut Out) -> Result<()> {
    let mut json = Json::new(out);
    json.object(|json| {
        json.name("schema")?.text(SCHEMA)?;
        json.name("formats")?.list(|json| {
            let mut chosen = chosen.iter();
            chosen.try_for_each(|format| json.object(|json| format_json(json, *format)))
        })
    })?;
    json.end_line()
}

/// The versions, and those that are read only.
fn versions(info: &Info) -> String {
    match info.only_read {
        [] => info.versions.join(" "),
        others if !info.is_written() => format!("(read: {})", others.join(" ")),
        others => format!("{} (read: {})", info.versions.join(" "), others.join(" ")),
    }
}

fn format_json(json: &mut Json, format: &dyn Format) -> Result<()> {
    let info = format.info();
    json.name("name")?.text(info.name)?;
    json.name("title")?.text(info.title)?;
    json.name("extensions")?.texts(info.extensions)?;
    json.name("versions")?.texts(info.versions)?;
    json.name("only_read")?.texts(info.only_read)?;
    json.name("options")?.list(|json| {
        info.options.iter().try_for_each(|option| {
            json.object(|json| {
                json.name("name")?.text(option.name)?;
                json.name("when")?.text(when_text(option.when))?;
                json.name("values")?.text(option.values)?;
                json.name("about")?.text(option.about)
            })
        })
    })?;
    json.name("holds")?
        .object(|json| holds_json(json, &info.holds))?;
    json.name("editions")?.list(|json| {
        let mut versions = format.versions().iter().map(|edition| edition.info());
        versions.try_for_each(|edition| {
            json.object(|json| {
                json.name("versions")?.texts(edition.versions)?;
                json.name("holds")?
                    .object(|json| holds_json(json, &edition.holds))
            })
        })
    })
}

fn holds_json(json: &mut Json, holds: &Capabilities) -> Result<()> {
    let numbers = holds.numbers.iter().map(|number| number.as_str());
    let arities = holds.arities.iter().map(|arity| arity.as_str());
    let orders = holds.orders.iter().map(|order| match order {
        Order::Row => "row",
        Order::Column => "column",
    });
    json.name("names")?.text(names_text(holds.names))?;
    json.name("numbers")?.texts(numbers)?;
    json.name("arities")?.texts(arities)?;
    let kinds = holds.kinds.iter().map(|kind| kind_text(*kind));
    json.name("storage")?.texts(kinds)?;
    json.name("orders")?.texts(orders)?;
    json.name("ndim")?.numbers([holds.ndim.0, holds.ndim.1])?;
    json.name("size")?.numbers([holds.size.0, holds.size.1])?;
    json.name("dim_names")?
        .text(dim_names_text(holds.dim_names))?;
    json.name("symmetry")?.number(holds.symmetry)?;
    json.name("state")?.number(holds.state)?;
    json.name("metadata")?.object(|json| {
        json.name("file")?.number(holds.meta.file)?;
        json.name("tensor")?.number(holds.meta.tensor)
    })?;
    json.name("carries")?.text(match holds.carries {
        SidecarSlot::No => "no",
        SidecarSlot::Tensor => "tensor",
        SidecarSlot::File => "file",
        SidecarSlot::Comment => "comment",
    })
}

fn carries_text(carries: SidecarSlot) -> &'static str {
    match carries {
        SidecarSlot::No => "nothing: what it has no word for is said or refused",
        SidecarSlot::Tensor => "what it has no word for, as text with each tensor",
        SidecarSlot::File => "what it has no word for, as text with the file",
        SidecarSlot::Comment => "what it has no word for, as text in a comment of the file",
    }
}

fn extensions(info: &Info) -> String {
    let dotted: Vec<String> = info
        .extensions
        .iter()
        .map(|name| format!(".{name}"))
        .collect();
    dotted.join(" ")
}

fn kinds(holds: &Capabilities) -> String {
    let words: Vec<&str> = holds.kinds.iter().map(|kind| kind_text(*kind)).collect();
    words.join(" ")
}

fn range((least, most): (u64, u64)) -> String {
    match most {
        u64::MAX => format!("from {least}"),
        most => format!("{least} to {most}"),
    }
}

/// The number types, adjacent ones joined, such as `bool u8-u64 f32 f64, complex`.
fn numbers(numbers: &[Number], arities: &[Arity]) -> String {
    let mut runs: Vec<(Number, Number)> = Vec::new();
    let mut last_held = false;
    for number in Number::ALL {
        let held = numbers.contains(number);
        match runs.last_mut() {
            Some((first, last)) if held && last_held && is_family(*first, *number) => {
                *last = *number;
            }
            _ if held => runs.push((*number, *number)),
            _ => {}
        }
        last_held = held;
    }
    let words: Vec<String> = runs
        .iter()
        .map(|(first, last)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            }
        })
        .collect();
    let wider = arities.iter().filter(|arity| **arity != Arity::Real);
    let wider: Vec<&str> = wider.map(|arity| arity.as_str()).collect();
    [words.join(" "), wider.join(" ")]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}

/// Whether two number types differ only in width; bfloat types are kept apart.
fn is_family(first: Number, second: Number) -> bool {
    let is_brain = |number| number == Number::Bf16;
    first.kind() == second.kind() && !is_brain(first) && !is_brain(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_number_types_are_drawn_together() {
        assert_eq!(
            numbers(Number::ALL, Arity::ALL),
            "bool u8-u128 i8-i128 f16 bf16 f32-f128, complex quaternion octonion"
        );
        let some = [Number::I8, Number::I32, Number::F32, Number::F64];
        assert_eq!(numbers(&some, &[Arity::Real]), "i8 i32 f32-f64");
    }
}
