// A tensor that is larger than memory: it opens at once, and its server stays small.

import assert from "node:assert/strict";
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { browser, temporary, Viewer, Visit } from "./viewer.js";

const [ROWS, COLS] = [32_768, 65_536];

/** 16 GiB of zeros in a file of NumPy's that is nearly all hole, with a few numbers in it. @param {string} file */
function writeHoles(file) {
  const words = `{'descr': '<f8', 'fortran_order': False, 'shape': (${ROWS}, ${COLS}), }`.padEnd(117) + "\n";
  const header = Buffer.alloc(10);
  header.write("\x93NUMPY\x01\x00", "latin1");
  header.writeUInt16LE(words.length, 8);
  const start = header.length + words.length;
  const out = openSync(file, "w");
  writeSync(out, Buffer.concat([header, Buffer.from(words)]));
  ftruncateSync(out, start + ROWS * COLS * 8);
  const numbers = Buffer.alloc(4096 * 8);
  for (let i = 0; i < 4096; i += 1) numbers.writeDoubleLE(Math.sin(i / 100), i * 8);
  for (let row = 0; row < 64; row += 1) writeSync(out, numbers, 0, numbers.length, start + row * COLS * 8);
  closeSync(out);
}

/** Megabytes of memory of a process, by a line of its status. @param {number} pid @param {string} line */
function megabytes(pid, line) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${line}:\\s+(\\d+) kB`).exec(status)?.[1] ?? NaN) / 1024;
}

test("16 GiB open and pan while the server stays below 200 MB", async (t) => {
  const file = path.join(temporary(), "holes.npy");
  writeHoles(file);
  const viewer = await Viewer.start([file]);
  const chromium = await browser();
  const visit = await Visit.open(chromium, viewer, "");
  await visit.page.reload();
  const start = performance.now();
  await visit.drawn();
  t.diagnostic(`the first picture after ${Math.round(performance.now() - start)} ms`);
  /** @type {number[]} */
  const took = [];
  await visit.go("#file=0&tab=heat&region=0,600,0,900");
  await visit.drawn();
  await visit.page.locator(".plane canvas").focus();
  for (const key of [
    "ArrowRight",
    "ArrowRight",
    "ArrowDown",
    "+",
    "ArrowLeft",
    "-",
    "-",
    "-",
    "ArrowDown",
    "ArrowRight",
  ]) {
    const answer = visit.page.waitForResponse((response) => response.url().includes("/api/tile"));
    const asked = performance.now();
    await visit.page.keyboard.press(key);
    await (await answer).finished();
    await visit.drawn();
    took.push(performance.now() - asked);
  }
  took.sort((a, b) => a - b);
  t.diagnostic(
    `a step of panning or zooming: median ${Math.round(took[5] ?? 0)} ms, longest ${Math.round(took.at(-1) ?? 0)} ms`,
  );
  const pid = viewer.process.pid ?? 0;
  const [own, all] = [megabytes(pid, "RssAnon"), megabytes(pid, "VmHWM")];
  t.diagnostic(
    `memory of the server: ${Math.round(own)} MB of its own, at most ${Math.round(all)} MB with pages of the file`,
  );
  assert.ok(own < 200, `${own} MB`);
  await visit.close();
  await chromium.close();
  viewer.stop();
});
