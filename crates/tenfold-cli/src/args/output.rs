//! Output files: destination, format and overwriting.

use std::path::PathBuf;

use clap::Args;
use tenfold::Format;

use super::named;
use super::size::size;

/// Where and how one file is written.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Saving {
    /// The file to write, if it is not the last word; `-` is standard output
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    pub(crate) file: Option<PathBuf>,
    /// The format to write, if OUT's name does not say, and perhaps its version
    #[arg(long, value_name = "FORMAT[@VERSION]", value_parser = target)]
    pub(crate) to: Option<Target>,
    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
    /// Do not wait for the disk: quicker, but a power failure may lose what was written
    #[arg(long)]
    pub(crate) no_sync: bool,
}

/// Where `convert` writes, which may be to several files.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Output {
    #[command(flatten)]
    pub(crate) saving: Saving,
    /// Write a file for every tensor into this folder, and an index.json of their true names
    #[arg(long, value_name = "DIR", requires = "to")]
    // The index keeps names as they are; --rename changes them.
    #[arg(conflicts_with_all = ["file", "strip_prefix"])]
    pub(crate) out_dir: Option<PathBuf>,
    /// Write several files, OUT-00001-of-00003 and so on, with at most so many bytes of values each
    #[arg(long, value_name = "SIZE", value_parser = size)]
    // Every file must have the prefix; --rename can remove one as well.
    #[arg(conflicts_with_all = ["out_dir", "strip_prefix"])]
    pub(crate) max_size: Option<u64>,
}

/// The value of `--to`.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) format: &'static dyn Format,
    pub(crate) version: Option<String>,
}

pub(crate) fn target(text: &str) -> Result<Target, String> {
    let (name, version) = match text.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    };
    let format = named(name)?;
    let info = format.info();
    if !info.is_written() {
        return Err(format!("{name} is read and never written"));
    }
    match version {
        Some(version) if !info.versions.contains(&version) => {
            let known = info.versions.join(" or ");
            let hint = if info.only_read.contains(&version) {
                format!("; {version} is only read")
            } else {
                String::new()
            };
            Err(format!("{name} is written in version {known}{hint}"))
        }
        _ => Ok(Target {
            format,
            version: version.map(str::to_owned),
        }),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_target_may_name_a_version() {
        let target = super::target("blz@1").ok().unwrap();
        assert_eq!(target.format.info().name, "blz");
        assert_eq!(target.version.as_deref(), Some("1"));
        let error = super::target("blz@7").err().unwrap();
        assert_eq!(error, "blz is written in version 1 or 2");
        let error = super::target("ztensor@1.1").err().unwrap();
        assert!(error.ends_with("; 1.1 is only read"), "{error}");
    }
}
