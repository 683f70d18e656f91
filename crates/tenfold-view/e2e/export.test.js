// What is taken away from the page is what is in the file.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { browser, demo, ROOT, tenfold, Viewer, Visit } from "./viewer.js";

/** @type {import("playwright-core").Browser} */
let chromium;
/** @type {Viewer} */
let viewer;
/** @type {string} */
let field;
before(async () => {
  field = path.join(demo(), "field.npy");
  viewer = await Viewer.start([field]);
  chromium = await browser();
});
after(async () => {
  await chromium.close();
  viewer.stop();
});

/** Rows 6 to 17 and columns 6 to 17 of the slice at 5: squares of a picture as wide as it is high show all. */
const FRAGMENT = "#file=0&tab=heat&at=5,0,0&region=6,18,6,18";

/** What a button saves. @param {Visit} visit @param {string} name @param {"link" | "button"} [role] */
async function saved(visit, name, role = "link") {
  const download = visit.page.waitForEvent("download");
  await visit.page.getByRole(role, { name, exact: true }).click();
  return readFileSync(await (await download).path());
}

/** The part on the screen, from the address of a download. @param {Visit} visit */
async function part(visit) {
  const link = await visit.page.getByRole("link", { name: "npy", exact: true }).getAttribute("href");
  const query = new URL(link ?? "", viewer.origin).searchParams;
  const [r0, r1, c0, c1] = ["r0", "r1", "c0", "c1"].map((key) => Number(query.get(key)));
  return { slice: `5, ${r0}:${r1}, ${c0}:${c1}`, rows: Number(r1) - Number(r0), cols: Number(c1) - Number(c0) };
}

/** @param {string} slice @returns {{shape: number[], data: number[]}} */
const shown = (slice) => JSON.parse(tenfold(["show", "--json", field, "--slice", slice])).tensors[0];

test("npy, csv and json hold the numbers that are on the screen", async () => {
  const visit = await Visit.open(chromium, viewer, FRAGMENT);
  await visit.drawn();
  const { slice, rows, cols } = await part(visit);
  assert.ok(rows >= 12 && rows < 24);
  const wanted = shown(slice);
  assert.deepEqual(wanted.shape, [rows, cols]);

  const npy = await saved(visit, "npy");
  const header = npy.readUInt16LE(8);
  const text = npy.subarray(10, 10 + header).toString();
  assert.match(text, /'descr': '<f8'/);
  const isColumns = /'fortran_order': True/.test(text);
  const numbers = Array.from({ length: rows * cols }, (_, i) => npy.readDoubleLE(10 + header + i * 8));
  const rowwise = isColumns ? wanted.data.map((_, i) => numbers[(i % cols) * rows + Math.floor(i / cols)]) : numbers;
  assert.deepEqual(rowwise, wanted.data);

  const json = JSON.parse((await saved(visit, "json")).toString());
  assert.deepEqual(json.tensors[0].data, wanted.data);

  const csv = (await saved(visit, "csv")).toString().trim().split(/\r?\n/);
  const cells = csv.map((line) => line.split(",").map(Number));
  assert.deepEqual(
    cells.slice(-rows).flatMap((line) => line.slice(-cols)),
    wanted.data,
  );
  await visit.close();
});

test("png holds a picture", async () => {
  const visit = await Visit.open(chromium, viewer, FRAGMENT);
  await visit.drawn();
  const png = await saved(visit, "png", "button");
  assert.deepEqual([...png.subarray(0, 8)], [137, 80, 78, 71, 13, 10, 26, 10]);
  assert.ok(png.length > 2000);
  await visit.close();
});

/** What was copied, once it begins as it should. @param {Visit} visit @param {string} beginning */
async function copied(visit, beginning) {
  await visit.page.waitForFunction(
    async (begins) => (await navigator.clipboard.readText()).startsWith(begins),
    beginning,
  );
  return visit.page.evaluate(() => navigator.clipboard.readText());
}

test("the copied command prints what is on the screen, and NumPy's words name the same part", async () => {
  const visit = await Visit.open(chromium, viewer, FRAGMENT, { permissions: ["clipboard-read", "clipboard-write"] });
  await visit.drawn();
  const { slice } = await part(visit);
  await visit.page.getByRole("button", { name: "Copy as tenfold show" }).click();
  const command = await copied(visit, "tenfold show ");
  const folder = path.join(ROOT, "target/debug");
  const printed = execFileSync("sh", ["-c", `${command} --json`], {
    env: { ...process.env, PATH: `${folder}:${process.env["PATH"]}` },
    cwd: path.dirname(field),
  });
  assert.deepEqual(JSON.parse(printed.toString()).tensors[0].data, shown(slice).data);
  await visit.page.getByRole("button", { name: "Copy as NumPy" }).click();
  const words = await copied(visit, "np.load(");
  assert.ok(words.startsWith(`np.load(${JSON.stringify(field)}`), words);
  assert.ok(words.endsWith(`[${slice}]`), words);
  await visit.close();
});
