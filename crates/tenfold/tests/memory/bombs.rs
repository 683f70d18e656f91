//! Files that say much in few bytes: what a reader builds of them stays within `--max-structure`, whatever
//! the format.

use tenfold::{Error, ReadOptions, Source};

use crate::bomb_files::bombs;
use crate::{alone, watched};

/// What a file may build here; bombs have more bytes than that, or become more.
const STRUCTURE: usize = 24 << 20;
/// What may be held for it at most: 256 MB for the default of 192 MiB.
const HELD: usize = STRUCTURE / 3 * 4;

#[test]
fn bombs_stay_within_what_structure_may_take() {
    let _alone = alone();
    let only = std::env::var("TENFOLD_BOMB").ok();
    let mut faults = Vec::new();
    let (mut refused, mut count) = (0, 0);
    for bomb in bombs() {
        let what = format!("{}: {}", bomb.format, bomb.name);
        if only
            .as_ref()
            .is_some_and(|only| !what.contains(only.as_str()))
        {
            continue;
        }
        count += 1;
        let mut how = ReadOptions::default();
        how.limits.set("structure", STRUCTURE as u64).unwrap();
        how.limits.set("tensors", u64::MAX).unwrap();
        for (name, value) in bomb.options {
            how.options.set(name, value);
        }
        let format = tenfold::by_name(bomb.format).unwrap();
        let source = Source::memory(bomb.bytes);
        let started = std::time::Instant::now();
        let (read, held) = watched(|| tenfold::read(&source, format, &how).map(|_| ()));
        let took = started.elapsed();
        let said = match &read {
            Ok(()) => "read".into(),
            Err(error) => error.to_string(),
        };
        refused += u32::from(matches!(
            &read,
            Err(Error::Limit {
                limit: "structure",
                ..
            })
        ));
        if only.is_some() || std::env::var_os("TENFOLD_BOMBS").is_some() {
            eprintln!("{what}: {} MiB, {took:.1?}, {said:.160}", held >> 20);
        }
        if held > HELD {
            faults.push(format!("{what}: {} MiB held: {said:.160}", held >> 20));
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults of {count}:\n{}",
        faults.len(),
        faults.join("\n")
    );
    assert!(only.is_some() || refused > 60, "{refused} of {count}");
}
