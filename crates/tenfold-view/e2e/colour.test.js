// How numbers become colours, seen on pixels of the picture.

import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";
import { browser, demo, ROOT, tenfold, Viewer, Visit } from "./viewer.js";

/** @type {import("playwright-core").Browser} */
let chromium;
/** @type {Viewer} */
let viewer;
/** @type {number} */
let bias;
before(async () => {
  const folder = demo();
  const weights = path.join(folder, "weights-next.zt");
  const info = JSON.parse(tenfold(["info", "--json", weights]));
  bias = info.tensors.findIndex((/** @type {{name: string}} */ one) => one.name === "decoder.bias");
  const complex = path.join(ROOT, "corpus/npy/good/fortran_complex.npy");
  viewer = await Viewer.start([path.join(folder, "field.npy"), weights, complex]);
  chromium = await browser();
});
after(async () => {
  await chromium.close();
  viewer.stop();
});

/** The colour in the middle of a cell, away from its number. @param {Visit} visit @param {number} row
 * @param {number} col @param {number} rows @param {number} cols */
async function pixel(visit, row, col, rows, cols) {
  await visit.drawn();
  await visit.page.waitForLoadState("networkidle");
  const { x, y } = await visit.cell(row, col, rows, cols);
  const box = await visit.page.locator(".plane canvas").boundingBox();
  assert.ok(box);
  return visit.page.locator(".plane canvas").evaluate(
    (canvas, at) => {
      const pen = new OffscreenCanvas(1, 1).getContext("2d");
      pen?.drawImage(/** @type {HTMLCanvasElement} */ (canvas), -at.x, -at.y);
      return [...(pen?.getImageData(0, 0, 1, 1).data ?? [])].slice(0, 3);
    },
    { x: Math.round(x - box.x), y: Math.round(y - box.y - 14) },
  );
}

test("the lowest and the highest cell have the ends of the map", async () => {
  const { data } = JSON.parse(tenfold(["show", "--json", path.join(ROOT, "corpus/npy/good/fortran_complex.npy")]))
    .tensors[0];
  const sizes = data.map((/** @type {[number, number]} */ [re, im]) => Math.hypot(re, im));
  const visit = await Visit.open(chromium, viewer, "#file=2&tab=heat");
  const [low, high] = [sizes.indexOf(Math.min(...sizes)), sizes.indexOf(Math.max(...sizes))];
  const at = (/** @type {number} */ i) => pixel(visit, Math.floor(i / 2), i % 2, 3, 2);
  assert.deepEqual(await at(low), [0x44, 0x01, 0x54]);
  assert.deepEqual(await at(high), [0xfd, 0xe7, 0x25]);
  await visit.page.getByRole("radio", { name: "grey" }).click();
  assert.deepEqual(await at(high), [255, 255, 255]);
  await visit.close();
});

test("parts of complex numbers are drawn one by one", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=2&tab=heat");
  for (const part of ["phase", "real", "imaginary", "magnitude"]) {
    const tile = visit.page.waitForResponse(
      (answer) => answer.url().includes("/api/tile") && answer.url().includes(`part=${part}`),
    );
    await visit.page.getByLabel("Part").selectOption(part);
    assert.equal((await tile).status(), 200);
    await visit.drawn();
  }
  await visit.close();
});

test("a range by hand and by percentile changes the ends of the legend", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=0&tab=heat");
  const { page } = visit;
  await visit.drawn();
  const ends = page.getByRole("complementary", { name: "Legend" }).locator("ol li");
  await page.getByRole("radio", { name: "manual" }).click();
  await page.getByLabel("Lowest").fill("-2");
  await page.getByLabel("Lowest").press("Enter");
  await page.getByLabel("Highest").fill("6");
  await page.getByLabel("Highest").press("Enter");
  assert.deepEqual(await ends.allTextContents(), ["6", "4", "2", "0", "-2"]);
  const asked = page.waitForResponse(
    (answer) => answer.url().includes("/api/range") && answer.url().includes("low=5&high=95"),
  );
  await page.getByRole("radio", { name: "percentile" }).click();
  await page.getByRole("radio", { name: "5 %", exact: true }).click();
  const { high } = await (await asked).json();
  await page.waitForFunction(
    (top) => Math.abs(Number(document.querySelector(".legend ol li")?.textContent) - top) < 1e-3,
    high,
  );
  await visit.close();
});

test("NaN has a colour of its own", async () => {
  const visit = await Visit.open(chromium, viewer, `#file=1&tensor=${bias}&tab=heat`);
  assert.deepEqual(await pixel(visit, 7, 0, 8, 1), [255, 0, 255]);
  await visit.page.getByRole("radio", { name: "blue-red" }).click();
  assert.deepEqual(await pixel(visit, 7, 0, 8, 1), [255, 0, 255]);
  await visit.close();
});
