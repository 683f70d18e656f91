//! A program that is killed: at every system call, and at any moment.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::arena::{Chance, amount, assert_faultless};
use crate::scene::{SCENES, Stage};
use crate::tracer::{calls, is_there, some_of, tamper};

/// Calls before anything is saved; the long version looks at these too.
const EARLY: &[&str] = &[
    "access",
    "arch_prctl",
    "brk",
    "clone3",
    "execve",
    "getrandom",
    "gettid",
    "mmap",
    "mprotect",
    "munmap",
    "newfstatat",
    "poll",
    "pread64",
    "prlimit64",
    "read",
    "recvfrom",
    "rseq",
    "rt_sigaction",
    "rt_sigprocmask",
    "sched_getaffinity",
    "set_robust_list",
    "set_tid_address",
    "sigaltstack",
    "socketpair",
    "ioctl",
    "exit_group",
];

/// The number of the signal.
const KILL: i32 = 9;

fn kill_everywhere(stage: &Stage, also: &[&str], faults: &mut Vec<String>) -> (usize, usize) {
    let (mut runs, mut littered) = (0, 0);
    for (call, count) in calls(stage, also) {
        let is_early = EARLY.contains(&call.as_str());
        let most = if is_early {
            amount(1, usize::MAX)
        } else {
            amount(12, usize::MAX)
        };
        for when in some_of(count, most) {
            let injection = format!("{call}:signal=KILL:when={when}");
            let folder = stage.set();
            let all: Vec<&str> = also.iter().copied().chain([injection.as_str()]).collect();
            let output = tamper(stage, folder.path(), &all);
            runs += usize::from(output.status.signal() == Some(KILL));
            match stage.judge_kill(folder.path()) {
                Ok(verdict) => littered += usize::from(!verdict.litter.is_empty()),
                Err(why) => faults.push(format!("{}, {injection}: {why}", stage.scene.name)),
            }
        }
    }
    (runs, littered)
}

#[test]
fn a_kill_at_any_call_leaves_the_old_or_the_new_file() {
    if !is_there("kills at every call") {
        return;
    }
    let (mut faults, mut runs, mut littered) = (Vec::new(), 0, 0);
    for scene in SCENES {
        let (more, left) = kill_everywhere(&Stage::new(scene), &[], &mut faults);
        (runs, littered) = (runs + more, littered + left);
    }
    let what = format!("kills at every call: {runs} runs, {littered} with a hidden file");
    assert_faultless(what, &faults);
    assert!(runs > 300, "hardly anything was killed");
    // The one moment in which a hidden file is there was among them.
    assert!(littered > 0);
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_or_the_new_file() {
    let stages: Vec<Stage> = SCENES.iter().map(Stage::new).collect();
    let mut chance = Chance::of(8);
    let (mut new, mut old, mut faults) = (0, 0, Vec::new());
    for round in 0..amount(4, 60) {
        for stage in &stages {
            let folder = stage.set();
            let mut command = Command::new("env");
            stage.cast(&mut command, folder.path());
            let began = Instant::now();
            let mut whole = command.stderr(std::process::Stdio::null()).spawn().unwrap();
            // Up to twice as long as a run takes, which is not the same everywhere.
            let longest = u64::try_from(stage.lasts.as_micros()).unwrap() * 2;
            let moment = Duration::from_micros(chance.below(longest));
            sleep(moment.saturating_sub(began.elapsed()));
            whole.kill().unwrap();
            whole.wait().unwrap();
            match stage.judge_kill(folder.path()) {
                Ok(verdict) if verdict.is_new => new += 1,
                Ok(_) => old += 1,
                Err(why) => faults.push(format!("{}, round {round}: {why}", stage.scene.name)),
            }
        }
    }
    let what = format!("kills at random: {old} before the end, {new} after it");
    assert_faultless(what, &faults);
}
