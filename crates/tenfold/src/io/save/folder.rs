//! Creation of the folders that files are saved in.

use std::path::Path;

use super::atomic_file::folder_of;
use crate::error::{Error, Result};
use crate::io::{platform, presence};

/// Creates a folder and its missing parents. Unless `skip_sync` is set their names are synced to
/// disk: a file saved in a folder is lost with the folder's name.
///
/// # Errors
/// [`Error::Io`] if one cannot be created, or the path is something else.
pub fn make_folder(folder: &Path, skip_sync: bool) -> Result<()> {
    let mut made = Vec::new();
    for path in folder.ancestors() {
        if path == Path::new("") || presence::metadata(path)?.is_some() {
            break;
        }
        made.push(path);
    }
    let in_folder = |error: std::io::Error| Error::from(error).in_file(folder);
    std::fs::create_dir_all(folder).map_err(in_folder)?;
    if skip_sync {
        return Ok(());
    }
    made.iter().rev().try_for_each(|path| {
        let above = folder_of(path);
        platform::sync_folder(above).map_err(|error| Error::from(error).in_file(above))
    })
}
