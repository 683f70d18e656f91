//! A system that fails: every call that a save makes, and every error it may give.

use crate::arena::{amount, assert_faultless};
use crate::scene::{Fault, SCENES, Stage};
use crate::tracer::{calls, is_there, some_of, tamper};

/// The calls by which files are written, named, looked at and left.
const CALLS: &[&str] = &[
    "open",
    "openat",
    "creat",
    "write",
    "pwrite64",
    "writev",
    "copy_file_range",
    "sendfile",
    "fsync",
    "fdatasync",
    "sync_file_range",
    "link",
    "linkat",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "close",
    "ftruncate",
    "fallocate",
    "fchmod",
    "fchown",
    "flock",
    "statx",
    "fstat",
    "newfstatat",
    "lseek",
    "fcntl",
    "mkdir",
    "mkdirat",
    "pread64",
    "read",
];

/// Those by which bytes get to the disk, and names with them.
const SAVING: &[&str] = &[
    "pwrite64",
    "fsync",
    "fdatasync",
    "link",
    "linkat",
    "rename",
    "renameat",
    "renameat2",
    "ftruncate",
];

/// What a disk says when it can do no more, and what any call says that a signal interrupts.
const ERRORS: &[&str] = &["ENOSPC", "EIO", "EDQUOT", "EINTR"];

/// Whether a call that fails once cannot have been made up for.
fn is_lost(call: &str, error: &str) -> bool {
    // One that was interrupted is made again. A nameless file that cannot be linked is an error unless
    // its name is taken; the temporary file's writes are of what is read from it later.
    error != "EINTR" && SAVING.contains(&call)
}

fn fail_everywhere(stage: &Stage, also: &[&str], faults: &mut Vec<String>) -> usize {
    let most = amount(3, usize::MAX);
    let mut runs = 0;
    for (call, count) in calls(stage, also) {
        if !CALLS.contains(&call.as_str()) {
            continue;
        }
        let whens = some_of(
            count,
            if SAVING.contains(&call.as_str()) {
                most.saturating_mul(3)
            } else {
                most
            },
        );
        for (when, error) in whens
            .iter()
            .flat_map(|when| ERRORS.iter().map(move |error| (when, error)))
        {
            let injection = format!("{call}:error={error}:when={when}");
            let folder = stage.set();
            let all: Vec<&str> = also.iter().copied().chain([injection.as_str()]).collect();
            let output = tamper(stage, folder.path(), &all);
            let fault = Fault {
                is_lost: is_lost(&call, error),
                is_deaf: call == "write" || is_before_main(&call),
                is_littered: call.starts_with("unlink"),
            };
            runs += 1;
            // The loader of the system gives up in its own words.
            if is_before_main(&call) && output.status.code() == Some(127) {
                continue;
            }
            if let Err(why) = stage.judge_error(folder.path(), &output, &fault) {
                faults.push(format!("{}, {injection}: {why}", stage.scene.name));
            }
        }
    }
    runs
}

/// Whether a call is also made while the program is loaded.
fn is_before_main(call: &str) -> bool {
    ["openat", "read", "pread64", "newfstatat", "fstat", "close"].contains(&call)
}

#[test]
fn a_call_that_fails_is_an_error_or_makes_no_difference() {
    if !is_there("calls that fail") {
        return;
    }
    let (mut faults, mut runs) = (Vec::new(), 0);
    for scene in SCENES {
        runs += fail_everywhere(&Stage::new(scene), &[], &mut faults);
    }
    assert_faultless(format!("calls that fail: {runs} runs"), &faults);
}

#[test]
fn every_file_and_its_name_are_brought_to_the_disk() {
    if !is_there("what is brought to the disk") {
        return;
    }
    for scene in SCENES {
        let stage = Stage::new(scene);
        let made = calls(&stage, &[]);
        let synced = made.get("fsync").copied().unwrap_or(0);
        // Once for the file, once for the folder that it is in, and once for a folder that is made.
        let wanted = 2 * stage.n_written() + stage.n_made();
        assert_eq!(synced, wanted, "{}", scene.name);
        // The first is that of a file, which comes before any name.
        let folder = stage.set();
        let output = tamper(&stage, folder.path(), &["fsync:error=EIO:when=1"]);
        assert_eq!(output.status.code(), Some(2), "{}", scene.name);
        assert!(stage.is_old(folder.path()), "{}", scene.name);
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn without_nameless_files_a_call_that_fails_does_no_harm_either() {
    if !is_there("calls that fail without nameless files") {
        return;
    }
    let (mut faults, mut runs) = (Vec::new(), 0);
    // On this architecture only nameless files are opened by this call.
    let also = ["open:error=EOPNOTSUPP"];
    for scene in SCENES.iter().take(amount(2, SCENES.len())) {
        runs += fail_everywhere(&Stage::new(scene), &also, &mut faults);
    }
    assert_faultless(
        format!("calls that fail without nameless files: {runs} runs"),
        &faults,
    );
}

#[test]
fn a_disk_that_fails_for_good_leaves_the_old_file() {
    if !is_there("calls that fail for good") {
        return;
    }
    let (mut faults, mut runs) = (Vec::new(), 0);
    for scene in SCENES {
        let stage = Stage::new(scene);
        let made = calls(&stage, &[]);
        for call in ["fsync", "linkat", "copy_file_range", "pwrite64"] {
            for error in ["ENOSPC", "EIO", "EDQUOT"] {
                let injection = format!("{call}:error={error}");
                let folder = stage.set();
                let output = tamper(&stage, folder.path(), &[&injection]);
                let fault = Fault {
                    is_lost: made.contains_key(call) && call != "copy_file_range",
                    ..Fault::default()
                };
                runs += 1;
                if let Err(why) = stage.judge_error(folder.path(), &output, &fault) {
                    faults.push(format!("{}, {injection}: {why}", scene.name));
                }
            }
        }
    }
    assert_faultless(format!("calls that fail for good: {runs} runs"), &faults);
}

#[test]
fn a_kernel_that_copies_nothing_is_made_up_for() {
    if !is_there("copies of nothing") {
        return;
    }
    let scene = SCENES
        .iter()
        .find(|scene| scene.name.contains("kernel"))
        .unwrap();
    let stage = Stage::new(scene);
    for injection in ["copy_file_range:retval=0", "copy_file_range:error=EXDEV"] {
        let folder = stage.set();
        let output = tamper(&stage, folder.path(), &[injection]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(stage.judge(folder.path()).unwrap().is_new, "{injection}");
    }
}
