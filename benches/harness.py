"""What all jobs share: programs that are measured in turns, rows, and the page they make."""

import json
import os
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass, field

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
THREADS = 2
# A program that took so many seconds in all is asked no more, once it was asked twice, or took as many at once.
PATIENCE = 8.0
# How often at least, if the patience allows.
ROUNDS = 5


@dataclass
class Target:
    """The most that ours may take, as a ratio to the best peer and to the limit."""

    peer: float | None = None
    limit: float | None = None

    def __str__(self):
        parts = [f"≤ {self.peer:g} of the peer"] if self.peer is not None else []
        parts += [f"≤ {self.limit:.3g} of the limit"] if self.limit is not None else []
        return ", ".join(parts)


@dataclass
class Row:
    """One line: seconds of ours, of what nobody can do quicker, and of every peer."""

    job: str
    what: str
    ours: float
    limit: float | None = None
    peers: dict[str, float] = field(default_factory=dict)
    target: Target = field(default_factory=Target)
    # Bytes, where a process of its own was measured.
    peak: int | None = None
    # Why a target is missed; shown only then.
    reason: str = ""
    # What else the row says, such as sizes.
    remark: str = ""
    # Where the target is not one of ratios: its words, and whether it is met.
    other: tuple[str, bool] | None = None

    def best(self):
        """The quickest peer."""
        return min(self.peers, key=self.peers.get) if self.peers else None

    def of_limit(self):
        return self.ours / self.limit if self.limit else None

    def of_peer(self):
        return self.ours / self.peers[self.best()] if self.peers else None

    def met(self):
        """Whether every target that is set is kept; None where none is."""
        kept = [self.other[1]] if self.other else []
        kept += [ratio <= most for ratio, most in ((self.of_limit(), self.target.limit), (self.of_peer(), self.target.peer)) if ratio is not None and most is not None]
        return all(kept) if kept else None

    def cells(self):
        limit = f"{self.of_limit():.2f}" if self.limit else "–"
        peer = f"{self.of_peer():.3g} ({self.best()})" if self.peers else "–"
        target = ", ".join(part for part in (str(self.target), self.other[0] if self.other else "") if part) or "–"
        met = {True: "yes", False: "**no**", None: "–"}[self.met()]
        peak = f"{self.peak / (1 << 20):.0f} MiB" if self.peak else "–"
        what = f"{self.what} ({self.remark})" if self.remark else self.what
        return [what, limit, peer, target, met, peak]


HEADINGS = ["what", "ours / limit", "ours / best peer", "target", "met", "peak memory"]


def table(headings, lines):
    """A table of markdown; the first column is of words."""
    rule = "|---|" + "---:|" * (len(headings) - 1)
    return "\n".join(["| " + " | ".join(headings) + " |", rule, *("| " + " | ".join(line) + " |" for line in lines)])


class Worker:
    """A program that answers lines: what is asked goes in, `seconds what it saw …` comes out."""

    def __init__(self, words, environment):
        self.words = words
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout.readline() == "ready\n", words

    def ask(self, *words):
        """All that it answers."""
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        assert answer, f"{self.words} has ended, asked {words}"
        return answer

    def seconds(self, *words):
        return float(self.ask(*words)[0])

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Bench:
    """Where a job works and what it measures with."""

    def __init__(self, folder, tenfold, native):
        self.folder, self.tenfold, self.binary = folder, tenfold, native
        self.workers = []
        self.environment = os.environ | {"OMP_NUM_THREADS": str(THREADS), "RAYON_NUM_THREADS": str(THREADS), "PYTHONPATH": HERE}
        words = [sys.executable, "-S", os.path.join(HERE, "runner.py")]
        self.runner = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment)
        # Text that a job adds below its table.
        self.notes = []

    def path(self, name):
        """A file in the folder of the job, which is emptied after it."""
        return os.path.join(self.folder, name)

    def worker(self, words, **environment):
        worker = Worker([str(word) for word in words], self.environment | environment)
        self.workers.append(worker)
        return worker

    def native(self, job, *words):
        """What only Rust can do: ours in process, limits, peers that are crates. A module of `native/src`."""
        return self.worker([self.binary, job, *words])

    def peer(self, job, name, *words, older=None):
        """A peer in Python: an entry of `PEERS` in the file of the job. `older` names a package of `target/peers/older`."""
        extra = {"PYTHONPATH": os.path.join(sys.prefix, "older", older) + os.pathsep + HERE} if older else {}
        return self.worker([sys.executable, os.path.join(HERE, "peer.py"), job, name, *words], **extra)

    def run(self, *words):
        """Seconds and peak bytes of a program that has to succeed."""
        words = [str(word) for word in words]
        self.runner.stdin.write(json.dumps(words) + "\n")
        self.runner.stdin.flush()
        seconds, peak, status = json.loads(self.runner.stdout.readline())
        assert status == 0, words
        return seconds, peak

    def quietly(self, *words):
        """Runs what only prepares, and shows what it said if it fails."""
        ran = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=self.environment)
        assert ran.returncode == 0, (words, ran.stderr)

    def in_turns(self, programs, rounds=ROUNDS, before=None):
        """Median seconds of each program, one after the other in every round; each entry gives its seconds.

        Now forwards, now backwards, so that nobody always finds what the same one left.
        """
        seen = {name: [] for name in programs}
        for turn in range(rounds + 1):
            for name, measure in list(programs.items())[:: 1 if turn % 2 else -1]:
                times = seen[name]
                if sum(times) > PATIENCE and (len(times) > 1 or times[0] > PATIENCE):
                    continue
                if before:
                    before()
                times.append(measure())
        # The first warms up; where there are few, it counts.
        return {name: statistics.median(times[1:] if len(times) > 2 else times) for name, times in seen.items()}

    def say(self, text):
        """Adds a paragraph below the table of the job."""
        self.notes.append(text)

    def end(self):
        for worker in self.workers:
            worker.end()
        self.runner.stdin.close()
        self.runner.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
