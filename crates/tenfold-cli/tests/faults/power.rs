//! A power loss at any moment of a save: every file that may be found afterwards is the old or the new one,
//! whole.

use std::collections::BTreeSet;

use crate::arena::{Chance, amount, assert_faultless};
use crate::disk::{Event, Record};
use crate::recorder::record;
use crate::scene::{SCENES, Stage};
use crate::tracer::is_there;

/// What is wrong with the states in which the power may leave the disk, and how many there were.
fn lose_power(stage: &Stage, record: &Record, chance: &mut Chance) -> (usize, BTreeSet<String>) {
    let (mut faults, mut n_states) = (BTreeSet::new(), 0);
    let order = named(record, stage);
    let all = record.events.len();
    for after in 0..=all {
        // Between two writes of a file without a name there is nothing new to be found.
        let is_write = |at: usize| matches!(record.events.get(at), Some(Event::Write(..)));
        if after > 0 && is_write(after - 1) && is_write(after) && chance.below(20) > 0 {
            continue;
        }
        for state in record.states(after, amount(6, 64), chance) {
            n_states += 1;
            let verdict = match stage.judge_tree(state.clone()) {
                Ok(verdict) => verdict,
                Err(why) => {
                    faults.insert(format!("{why} after event {after} of {all}"));
                    continue;
                }
            };
            if let Some(hidden) = verdict
                .litter
                .iter()
                .find(|name| !name.contains(".tenfold-"))
            {
                faults.insert(format!("{hidden} is left"));
            }
            if after == all && !verdict.is_new {
                faults.insert("what is said to be saved may not be there".into());
            }
            let is_new = |name: &&String| stage.is_new(name, &state);
            let n_new = order.iter().take_while(is_new).count();
            if order.iter().skip(n_new).any(|name| is_new(&name)) {
                faults.insert("a file is new before one that it may name".into());
            }
        }
    }
    (n_states, faults)
}

/// The files that are written, in the order in which they get their names.
fn named(record: &Record, stage: &Stage) -> Vec<String> {
    let mut order = Vec::new();
    for event in &record.events {
        if let Event::Name(path, _) | Event::Rename(_, path, _) = event
            && stage.is_written(path)
        {
            order.push(path.clone());
        }
    }
    order
}

#[test]
fn a_power_loss_leaves_the_old_or_the_new_file() {
    if !is_there("power losses") {
        return;
    }
    let (mut faults, mut n_states) = (Vec::new(), 0);
    let mut chance = Chance::of(41);
    for scene in SCENES {
        let stage = Stage::new(scene);
        let record = record(&stage, stage.before());
        // The model of the disk is right about a run that nothing happens to.
        let end = record.states(record.events.len(), 1, &mut chance);
        let meant = end.iter().rev().nth(2).unwrap();
        assert!(
            stage.judge_tree(meant.clone()).unwrap().is_new,
            "{}",
            scene.name
        );
        let (more, found) = lose_power(&stage, &record, &mut chance);
        n_states += more;
        faults.extend(found.iter().map(|why| format!("{}: {why}", scene.name)));

        // A save that leaves a sync out is found out.
        let careless = record.without(|event| matches!(event, Event::Sync(_)));
        let (_, found) = lose_power(&stage, &careless, &mut chance);
        let is_torn = |why: &String| why.contains("neither the old nor the new");
        assert!(
            found.iter().any(is_torn),
            "{}: without syncs of files",
            scene.name
        );
        let careless = record.without(|event| matches!(event, Event::SyncFolder(_)));
        let (_, found) = lose_power(&stage, &careless, &mut chance);
        let is_lost = |why: &String| why.contains("may not be there");
        assert!(
            found.iter().any(is_lost),
            "{}: without syncs of folders",
            scene.name
        );
    }
    assert_faultless(format!("power losses: {n_states} states"), &faults);
}
