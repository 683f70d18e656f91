// Lines, histogram, table, blocks, train and comparison.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { browser, demo, temporary, tenfold, Viewer, Visit } from "./viewer.js";

const FILES = ["field.npy", "field.blz", "weights.zt", "weights-next.zt", "catalogue.tbf"];

/** @type {import("playwright-core").Browser} */
let chromium;
/** @type {Viewer} */
let viewer;
/** @type {string} */
let folder;
before(async () => {
  folder = demo();
  viewer = await Viewer.start(FILES.map((name) => path.join(folder, name)));
  chromium = await browser();
});
after(async () => {
  await chromium.close();
  viewer.stop();
});

/** The position of a tensor in its file. @param {string} file @param {string} name */
function position(file, name) {
  const info = JSON.parse(tenfold(["info", "--json", path.join(folder, file)]));
  return info.tensors.findIndex((/** @type {{name: string}} */ one) => one.name === name);
}

/** A statistic beside the histogram. @param {Visit} visit @param {string} name */
async function statistic(visit, name) {
  const row = visit.page
    .getByRole("region", { name: "Statistics" })
    .locator("div")
    .filter({ has: visit.page.getByText(name, { exact: true }) });
  return ((await row.locator("dd").textContent()) ?? "").replaceAll("\u202f", "");
}

test("the histogram counts every cell, and says what is not finite", async () => {
  const bias = position("weights-next.zt", "decoder.bias");
  const visit = await Visit.open(chromium, viewer, `#file=3&tensor=${bias}&tab=histogram`);
  await visit.page.getByRole("img", { name: /Histogram of 8 cells/ }).waitFor();
  assert.equal(await statistic(visit, "NaN"), "1");
  await visit.go("#file=0&tab=histogram");
  await visit.page.getByRole("img", { name: /Histogram of 13.824 cells/ }).waitFor();
  assert.equal(await statistic(visit, "cells"), "13824");
  await visit.page.getByRole("radio", { name: "the slice on the screen" }).click();
  await visit.page.getByRole("img", { name: /Histogram of 576 cells/ }).waitFor();
  await visit.page.getByRole("radio", { name: "linear" }).click();
  await visit.close();
});

test("lines are drawn along any dimension, several at once", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=0&tab=lines");
  await visit.page.getByRole("img", { name: "Values along axis 2" }).waitFor();
  await visit.page.getByLabel("Several of axis 1").fill("0, 4, 10:13");
  const asked = visit.page.waitForRequest((request) => new URL(request.url()).searchParams.getAll("at").length === 5);
  await visit.page.keyboard.press("Enter");
  await asked;
  await visit.page.getByText("axis 1 12").waitFor();
  const box = await visit.page.locator(".u-over").boundingBox();
  assert.ok(box);
  const nearer = visit.page.waitForRequest((request) => request.url().includes("i0=5&"));
  await visit.page.mouse.move(box.x + (box.width * 5.3) / 23, box.y + 50);
  await visit.page.mouse.down();
  await visit.page.mouse.move(box.x + (box.width * 15) / 23, box.y + 60, { steps: 4 });
  await visit.page.mouse.up();
  await nearer;
  const everything = visit.page.waitForRequest((request) => request.url().includes("i0=0&i1=24"));
  await visit.page.keyboard.press("0");
  await everything;
  await visit.page.getByRole("combobox", { name: "Along" }).selectOption("0");
  await visit.page.getByRole("img", { name: "Values along axis 0" }).waitFor();
  await visit.close();
});

/** What a cell of the table says, once it is in sight, its value has come and it is written as asked.
 * Place and text are looked at in one go, as every scroll and every answer draws the cells anew.
 * @param {import("playwright-core").Page} page @param {number} row @param {number} col @param {RegExp} written */
async function cellText(page, row, col, written = /\d/) {
  const shown = await page.waitForFunction(
    ({ row, col, source }) => {
      const heads = [...document.querySelectorAll(".sheet .head [role=columnheader]:not(.corner)")];
      const across = heads.findIndex((head) => head.textContent?.trim() === String(col));
      const cells = document.querySelectorAll(`.sheet [aria-rowindex="${row + 1}"] [role=cell]`);
      const text = cells[across]?.textContent?.trim() ?? "";
      return new RegExp(source).test(text) ? text : null;
    },
    { row, col, source: written.source },
  );
  return shown.jsonValue();
}

test("the table has the values of the file, also after scrolling", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=0&tab=table&at=2,0,0");
  const { page } = visit;
  const data = JSON.parse(tenfold(["show", "--json", path.join(folder, "field.npy"), "--slice", "2"])).tensors[0].data;
  assert.equal(Number(await cellText(page, 0, 0)), data[0]);
  await page.locator(".sheet").evaluate((sheet) => sheet.scrollTo(10_000, 10_000));
  const [row, col] = [23, data.length / 24 - 1];
  assert.equal(Number(await cellText(page, row, col)), data.at(-1));
  await page.getByRole("radio", { name: "fixed" }).click();
  assert.equal(await cellText(page, row, col, /^-?\d+\.\d{4}$/), Number(data.at(-1)).toFixed(4));
  await visit.close();
});

test("blocks are listed by label and can be filtered", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=4");
  const { page } = visit;
  await page.getByText("5 of 5 blocks").waitFor();
  await page.getByRole("cell", { name: "Müller & Söhne" }).waitFor();
  await page.getByLabel("Filter").fill("anvil");
  await page.getByText("2 of 5 blocks").waitFor();
  assert.equal(await page.getByRole("cell", { name: "Müller & Söhne" }).count(), 0);
  await visit.close();
});

/** A number of a core, at its first rank after, out of a file that has the cores as plain tensors.
 * @param {string} file @param {number} core @param {number} row @param {number} col */
function coreCell(file, core, row, col) {
  const plain = path.join(temporary(), "cores.safetensors");
  tenfold(["convert", path.join(folder, file), plain]);
  const bytes = readFileSync(plain);
  const start = 8 + Number(bytes.readBigUInt64LE(0));
  /** @type {Record<string, {shape: number[], data_offsets: number[]}>} */
  const header = JSON.parse(bytes.subarray(8, start).toString());
  const found = Object.entries(header).find(([name]) => name.endsWith(`.core.${core}`))?.[1];
  const [, size, after] = found?.shape ?? [];
  return bytes.readDoubleLE(start + (found?.data_offsets[0] ?? 0) + 8 * (row * (size ?? 0) + col) * (after ?? 0));
}

test("a train shows its chain and its cores, and gives single cells", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=1&tab=train");
  const { page } = visit;
  await visit.drawn();
  const asked = page.waitForRequest((request) => request.url().includes("core=1"));
  await page.getByRole("button", { name: "Core 1: 2 × 24 × 2" }).click();
  await asked;
  await visit.drawn();
  await page.locator(".plane canvas").last().hover();
  const value = page.getByLabel("Value under the cursor");
  await page.waitForFunction(() => /\d/.test(document.querySelector(".value")?.textContent ?? ""));
  const cell = (await page.getByLabel("Cell under the cursor").textContent()) ?? "";
  const [row, col] = (cell.match(/\[(\d+), (\d+), 0\]/) ?? []).slice(1).map(Number);
  assert.equal(Number(await value.textContent()), coreCell("field.blz", 1, row ?? -1, col ?? -1));
  await page.getByLabel("Indices").fill("3, 5, 7");
  await page.keyboard.press("Enter");
  const shown = JSON.parse(tenfold(["show", "--json", path.join(folder, "field.npy"), "--slice", "3, 5, 7"])).tensors[0]
    .data[0];
  await page.waitForFunction(
    (wanted) => Math.abs(Number(document.querySelector(".evaluated output")?.textContent) - wanted) < 1e-9,
    shown,
  );
  await visit.close();
});

test("two tensors are compared across files, and the worst cell is gone to", async () => {
  const weight = position("weights.zt", "decoder.weight");
  const visit = await Visit.open(chromium, viewer, `#file=2&tensor=${weight}&tab=compare`);
  const { page } = visit;
  await visit.drawn();
  assert.equal(await page.locator(".plane canvas").count(), 3);
  await page.getByText("128 of 128 cells differ").waitFor();
  const worst = page.getByRole("button", { name: "Go to cell 4, 10" });
  await worst.click();
  await page.getByText("[4, 10]", { exact: true }).first().waitFor();
  await page.waitForFunction(
    () => document.querySelector("output[aria-label='Value of B']")?.textContent === "-0.054132476",
  );
  assert.equal(await page.getByLabel("Value of A", { exact: true }).textContent(), "-0.055130005");
  await visit.close();
});

test("the difference on the screen can be taken away as numbers", async () => {
  const weight = position("weights.zt", "decoder.weight");
  const visit = await Visit.open(chromium, viewer, `#file=2&tensor=${weight}&tab=compare`);
  await visit.drawn();
  const link = visit.page.getByRole("link", { name: "json", exact: true });
  const query = new URL((await link.getAttribute("href")) ?? "", viewer.origin).searchParams;
  assert.equal(query.get("with"), `3,${position("weights-next.zt", "decoder.weight")}`);
  const download = visit.page.waitForEvent("download");
  await link.click();
  const saved = JSON.parse(readFileSync(await (await download).path(), "utf8")).tensors[0];
  /** @param {string} file @returns {number[]} */
  const values = (file) => JSON.parse(tenfold(["show", "--json", `${path.join(folder, file)}:decoder.weight`])).tensors[0].data;
  const [first, second] = [values("weights.zt"), values("weights-next.zt")];
  assert.deepEqual(saved.shape, [8, 16]);
  assert.deepEqual(
    saved.data,
    first.map((value, i) => Math.fround(value) - Math.fround(second[i] ?? NaN)),
  );
  await visit.close();
});

test("tensors of different formats are compared", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=0&tab=compare");
  await visit.drawn();
  assert.equal(await visit.page.getByLabel("File of B").locator("option:checked").textContent(), "field.blz");
  await visit.page.getByRole("region", { name: "Worst cells" }).waitFor();
  await visit.close();
});
