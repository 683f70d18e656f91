//! Command-line arguments shared by the commands.

mod filter;
mod key_values;
mod limits;
mod naming;
mod number;
mod output;
mod parse;
mod raw;
mod size;
mod tensor_ref;
mod tools;

use crate::commands::{
    Compress, Convert, Describe, Diff, Edit, Hash, Plot, Reconstruct, Stats, Tt, Verify, View,
};
use crate::terminal::OutputFlags;
pub(crate) use key_values::given;
pub(crate) use naming::NamingFlags;
pub(crate) use number::number;
pub(crate) use output::target;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use tenfold::{Duplicates, Format, Mode, Number, formats};

pub(crate) use filter::{Choice, Selection};
pub(crate) use key_values::KeyValues;
pub(crate) use limits::LimitFlags;
pub(crate) use output::{Output, Saving, Target};
pub(crate) use parse::{color, parse};
pub(crate) use raw::is_shared;
pub(crate) use tensor_ref::{Part, Positional};
pub(crate) use tools::{Completions, Demo, Man};

/// One tool for every tensor file.
#[derive(Parser)]
#[command(
    name = "tenfold",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "Exit codes: 0 fine, 1 the answer is no (a malformed file, say), 2 a usage or \
                  input/output problem, 3 refused because something would be lost, 130 \
                  interrupted."
)]
pub(crate) struct Tenfold {
    #[command(flatten)]
    pub(crate) voice: OutputFlags,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What there is to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Say what is in files, from their headers alone
    #[command(
        visible_alias = "ls",
        after_help = "`tenfold FILE` does the same.\n\n\
                      Example:\n  tenfold info weights.zt\n  tenfold info --tree --sort size model.model\n  \
                      tenfold info --json *.zt\n  tenfold info weights.zt --only 'encoder*'\n  \
                      tenfold info measured.dat --raw dtype=f32,shape=4x?"
    )]
    Info(Describe),
    /// Read files to the last byte, compare all checksums, and say whether they are sound
    ///
    /// Bytes that belong to nothing (before a zip archive, between tensors, padding that is not 0) are
    /// noted with their place and length; --strict refuses them.
    #[command(after_help = "Example:\n  tenfold verify weights.zt\n  \
                            tenfold verify --strict --json *.zt\n  \
                            tenfold verify weights.zt --salvage saved.zt")]
    Verify(Verify),
    /// Print the values of a file
    #[command(after_help = "Example:\n  tenfold show field.blz\n  \
                            tenfold show 'weights.zt:encoder.weight[0:3, -1]'\n  \
                            tenfold show weights.zt encoder.weight '0:3, -1'\n  \
                            tenfold show --json weights.zt > weights.json\n  \
                            tenfold show --csv 'field.npy[0]' > layer.csv")]
    Show(Show),
    /// Write a file anew, in its own format or another
    #[command(
        after_help = "What the target cannot hold is said where all values survive, and \
                            refused where they do not. Some \
                            formats carry it as text, which is read again.\n\n\
                            Names are chosen (--only, --exclude), then changed (--rename); what follows \
                            goes by the new ones. Tensors are transformed, then cast, then split \
                            (--complex), then compressed (--eps); --reshape with sizes for all \
                            components splits first.\n\n\
                            Example:\n  tenfold convert integrals.tens integrals.zt\n  \
                            tenfold convert 'weights.zt:encoder.weight[0:3]' rows.npy\n  \
                            tenfold convert field.npy arrays.npz both.zt\n  \
                            tenfold convert weights.zt --out-dir parts --to npy\n  \
                            tenfold convert weights.zt small.zt --max-size 1KB\n  \
                            tenfold convert words.gguf words.safetensors --dequantize bf16\n  \
                            tenfold convert field.blz full.zt --dense\n  \
                            tenfold convert measured.dat measured.npy --raw dtype=f32,shape=4x?,order=F\n  \
                            tenfold convert field.npy field.dat --raw dtype=f64,endian=big\n  \
                            tenfold convert weights.zt - --to ztensor > new.zt"
    )]
    Convert(Box<Convert>),
    /// Turn tensors into tensor trains, provably as near to them as asked for
    #[command(
        mut_arg("force", |arg| arg.help(
            "Replace a file that exists, and write a train that is larger than its tensor"
        )),
        mut_arg("only", |arg| arg.help(
            "Compress only the tensors whose names match, integers too; the others are kept as they are"
        )),
        mut_arg("exclude", |arg| arg.help(
            "Do not compress the tensors whose names match"
        )),
        after_help = "A .blz file holds one train. In a .zt file, each tensor of floats that gets \
                      smaller becomes a train, and the others are kept.\n\n\
                      Example:\n  tenfold compress field.npy wave.blz --eps 1e-6\n  \
                      tenfold compress field.npy --sweep 1e-1..1e-8\n  \
                      tenfold compress 'arrays.npz:slice[:, 4:]' slice.blz --eps 1e-4 --verify\n  \
                      tenfold compress 'field.npy[:16, :16, :16]' cube.blz --qubits 12 --max-rank 8 \
                      --best-effort\n  \
                      tenfold compress field.npy turned.blz --eps 1e-6 --permute 2,0,1\n  \
                      tenfold compress arrays.npz one.zt --eps 1e-2 --only 's*'"
    )]
    Compress(Box<Compress>),
    /// Expand tensor trains to all their cells
    #[command(
        after_help = "What a train was before it was compressed is remembered where the format can: \
                      in .zt files, not in .blz ones. Memory does not grow with the tensor.\n\n\
                      Example:\n  tenfold reconstruct field.blz wave.npy\n  \
                      tenfold reconstruct field.blz wave.tens --cast f32\n  \
                      tenfold reconstruct field.blz back.npy --like field.npy\n  \
                      tenfold compress arrays.npz trains.zt --eps 1e-3\n  \
                      tenfold reconstruct trains.zt arrays.zt"
    )]
    Reconstruct(Box<Reconstruct>),
    /// Compute with tensor trains: info, round, add, sub, dot, distance, norm
    #[command(after_help = "Example:\n  tenfold tt info field.blz\n  \
                      tenfold tt round field.blz rounded.blz --eps 1e-3\n  \
                      tenfold tt add field.blz field.blz sum.blz\n  \
                      tenfold tt distance field.blz sum.blz\n  \
                      tenfold tt dot field.blz field.blz\n  tenfold tt norm field.blz")]
    Tt(Tt),
    /// Say what is wrong with the values of files, and how they are distributed
    #[command(
        after_help = "Everything but the counts is about the finite values.\n\n\
                            Example:\n  tenfold stats weights.zt\n  \
                            tenfold stats weights.zt --only 'enc*' --hist\n  \
                            tenfold stats --fail-on nan,inf *.zt"
    )]
    Stats(Stats),
    /// Print a hash of what files mean: the same in any format, order or compression
    #[command(after_help = "What is hashed, and how: docs/hash.md.\n\n\
                            Example:\n  tenfold hash weights.zt weights.safetensors\n  \
                            tenfold hash --tensors weights.zt\n  \
                            tenfold hash *.zt > SUMS\n  tenfold hash --check SUMS")]
    Hash(Hash),
    /// Say what changed from one file to another, whatever their formats
    #[command(
        after_help = "Tensors are paired by name, dimensions by name where both have the same \
                            names. Exit code 0: all the same; 1: something differs; 2: trouble.\n\n\
                            Example:\n  tenfold diff weights.zt weights-next.zt\n  \
                            tenfold diff weights.zt weights.safetensors --ignore-dtype --ulp 0\n  \
                            tenfold diff field.npy field.blz --rtol 1e-12 --atol 1e-14\n  \
                            tenfold diff model.model weights.zt --map 'encoder/*=encoder.*' --only \
                            'encoder.*' --top 5"
    )]
    Diff(Diff),
    /// Change names and metadata of a file, in place
    #[command(
        after_help = "The file is replaced at once and whole, or not at all.\n\n\
                      Example:\n  tenfold edit weights.zt --set encoder.weight:unit=mV --dry-run\n  \
                      tenfold edit weights.zt -o short.zt --rename 's/^(enc|dec)oder/\\1/'\n  \
                      tenfold edit model.model --strip-state -o small.model\n  \
                      tenfold edit adam.optimizer --set Adam.alpha=0.002"
    )]
    Edit(Edit),
    /// Look at tensors in the browser: pictures, values, differences
    #[command(
        after_help = "The page is on this machine alone, for whoever has the address that is printed \
                      first, and reads nothing but the files that are named. Ctrl-C ends it.\n\n\
                      Example:\n  tenfold view weights.zt\n  tenfold view weights.zt weights-next.zt\n  \
                      tenfold view 'weights.zt:encoder.weight' --no-open --port 8000"
    )]
    View(View),
    /// Draw a tensor: as a heat map, lines or a histogram, into a file or the terminal
    #[command(
        after_help = "Of more than two dimensions the last two are drawn, at the start of the others; a \
                      slice chooses. What is too large is sampled evenly.\n\n\
                      Example:\n  tenfold plot weights.zt:encoder.weight -o weights.png\n  \
                      tenfold plot 'field.npy[:, 3, :]' -o field.svg --colors blue-red --scale symlog\n  \
                      tenfold plot weights.zt:encoder.weight --kind histogram --range 1%:99% -o values.png\n  \
                      tenfold plot 'field.npy[0]' --term"
    )]
    Plot(Box<Plot>),
    /// Make a folder of small files in every format, and show what can be done with them
    #[command(after_help = "Example:\n  tenfold demo\n  tenfold demo tensors")]
    Demo(Demo),
    /// Print what makes a shell complete the words of this program
    #[command(
        after_help = "Example:\n  tenfold completions bash > ~/.local/share/bash-completion/completions/tenfold\n  \
                      tenfold completions zsh > ~/.zfunc/_tenfold\n  \
                      tenfold completions fish > ~/.config/fish/completions/tenfold.fish"
    )]
    Completions(Completions),
    /// Print the manual page, or write one for every command
    #[command(
        after_help = "Example:\n  tenfold man | man -l -\n  tenfold man ~/.local/share/man/man1"
    )]
    Man(Man),
    /// List the formats and what they hold
    #[command(after_help = "Example:\n  tenfold formats\n  tenfold formats blz")]
    Formats(Formats),
}

/// The arguments of the commands that take any number of files.
#[derive(Args)]
pub(crate) struct Files {
    /// The files, or tensors of them as in `FILE:KEY` or `FILE:KEY[0:3]`; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print JSON, one object a file and line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// The arguments of `show`.
#[derive(Args)]
pub(crate) struct Show {
    /// The file, or a part of it as in `FILE:KEY[0:3]`; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) words: Positional,
    #[command(flatten)]
    pub(crate) part: Part,
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// Print all values, exactly, as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print all values of a tensor, exactly, as CSV: rows and columns, or a line for every cell
    #[arg(long, value_name = "TABLE", value_enum, num_args = 0..=1, require_equals = true,
          default_missing_value = "auto", conflicts_with = "json")]
    pub(crate) csv: Option<Table>,
    /// Print all values in another form
    #[arg(long = "as", value_name = "FORM", value_enum, conflicts_with_all = ["json", "csv"])]
    pub(crate) form: Option<Form>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// How values are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// As Vespa writes tensors: `tensor(x{},y[2]):{a:[1.0, 2.0]}`
    Literal,
    /// The same as --json
    Json,
    /// The same as --csv
    Csv,
}

/// How cells are put into lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Table {
    /// Rows and columns for dense tensors and labelled rows of up to two dimensions, else cells
    Auto,
    /// Rows and columns, every cell of a sparse tensor too; labels stand before their rows
    Wide,
    /// A line for every stored cell: a column for each dimension, and the value
    Long,
}

/// The arguments of `formats`.
#[derive(Args)]
pub(crate) struct Formats {
    /// Say everything about this one
    #[arg(value_name = "NAME", value_parser = names())]
    pub(crate) format: Option<&'static dyn Format>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// How files are read: the same for all commands that read any.
#[derive(Args, Clone)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Reading {
    /// Read as this format, whatever the content shows
    #[arg(short, long, visible_alias = "from", value_name = "NAME", value_parser = names())]
    pub(crate) format: Option<&'static dyn Format>,
    /// Let nothing pass that is worth a note
    #[arg(long, conflicts_with = "lenient")]
    pub(crate) strict: bool,
    /// Forgive harmless violations, with a note
    #[arg(long)]
    lenient: bool,
    /// Resolve cells of sparse tensors that are given more than once: add their values up, or keep the last
    #[arg(long, value_name = "sum|last", value_parser = duplicates())]
    pub(crate) duplicates: Option<Duplicates>,
    /// Take a file as it stands: leave what a conversion carried as text the text it is
    #[arg(long)]
    pub(crate) no_restore: bool,
    /// Open files of a set, such as `x-00001-of-00003.gguf`, without the others
    #[arg(long)]
    pub(crate) alone: bool,
    /// Work out the values of quantised tensors, such as those of GGUF files, in single precision;
    /// a number type to bring them to may follow
    #[arg(long, value_name = "DTYPE", num_args = 0..=1, default_missing_value = "f32",
          require_equals = true, value_parser = number::float)]
    pub(crate) dequantize: Option<Number>,
    /// Take a file for raw numbers, of this type, shape (one size may be `?`), order (`C` or `F`),
    /// byte order and offset; all but the type have defaults. Where a file is written too, the one is
    /// meant whose name, `--from` or `--to` says no format; twice, the first is read, the second
    /// written
    #[arg(long, value_name = "dtype=f32,shape=3x4,…", value_parser = raw::raw)]
    raw: Vec<KeyValues>,
    #[arg(skip)]
    pub(crate) meaning: raw::RawTarget,
    /// Set options of the format; `tenfold formats NAME` lists them. `@FILE` is what is in a file
    #[arg(long = "opt", value_name = "KEY=VALUE[,…]", value_parser = key_values::given)]
    options: Vec<KeyValues>,
    #[command(flatten)]
    pub(crate) limits: LimitFlags,
}

impl Reading {
    /// The format options, in order.
    pub(crate) fn options(&self) -> Vec<(String, String)> {
        let given = self.options.iter();
        given.flat_map(|given| given.0.iter().cloned()).collect()
    }

    /// The same arguments with these format options instead.
    pub(crate) fn with_options(&self, options: Vec<(String, String)>) -> Reading {
        Reading {
            options: vec![KeyValues(options)],
            ..self.clone()
        }
    }

    /// Strictness of reading headers.
    pub(crate) fn mode(&self) -> Mode {
        if self.lenient {
            Mode::Lenient
        } else {
            Mode::Strict
        }
    }
}

/// Parses a rule for cells given more than once.
fn duplicates() -> impl TypedValueParser<Value = Duplicates> {
    PossibleValuesParser::new(["sum", "last"]).try_map(|word| word.parse::<Duplicates>())
}

/// Parses the name of a format.
fn names() -> impl TypedValueParser<Value = &'static dyn Format> {
    let names = formats::named().map(|format| format.info().name);
    PossibleValuesParser::new(names).try_map(|name| named(&name))
}

fn named(name: &str) -> Result<&'static dyn Format, String> {
    tenfold::by_name(name).ok_or_else(|| {
        let names: Vec<&str> = formats::named().map(|format| format.info().name).collect();
        format!("the formats are {}", names.join(", "))
    })
}

pub(crate) fn option(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("an option is KEY=VALUE".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Tenfold::command().debug_assert();
    }

    #[test]
    fn every_command_has_an_example() {
        for command in Tenfold::command().get_subcommands() {
            let after = command.get_after_help().unwrap().to_string();
            let example = format!("tenfold {}", command.get_name());
            assert!(after.contains(&example), "{example}");
        }
    }
}
