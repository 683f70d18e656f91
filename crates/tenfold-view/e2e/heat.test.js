// The heat map: slices, zooming, the value under the cursor, keys, and links that restore all of it.

import assert from "node:assert/strict";
import path from "node:path";
import { after, before, test } from "node:test";
import { browser, demo, tenfold, Viewer, Visit } from "./viewer.js";

const SIDE = 24;

/** @type {import("playwright-core").Browser} */
let chromium;
/** @type {Viewer} */
let viewer;
/** @type {string} */
let field;
before(async () => {
  const folder = demo();
  field = path.join(folder, "field.npy");
  viewer = await Viewer.start([field, path.join(folder, "integrals.tens"), path.join(folder, "weights.zt")]);
  chromium = await browser();
});
after(async () => {
  await chromium.close();
  viewer.stop();
});

/** The one value of a cell, as `tenfold show --json` has it. @param {string} indices */
function shown(indices) {
  return JSON.parse(tenfold(["show", "--json", field, "--slice", indices])).tensors[0].data[0];
}

/** The region in the address. @param {Visit} visit */
async function region(visit) {
  await visit.page.waitForTimeout(250);
  return new URLSearchParams(new URL(visit.page.url()).hash.slice(1)).get("region");
}

test("the value under the cursor is the value in the file", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=0&tab=heat&at=5,0,0");
  await visit.drawn();
  for (const [row, col] of [
    [3, 7],
    [20, 11],
  ]) {
    const { x, y } = await visit.cell(Number(row), Number(col), SIDE, SIDE);
    await visit.page.mouse.move(x, y);
    await visit.page.getByText(`[5, ${row}, ${col}]`, { exact: true }).waitFor();
    const value = visit.page.getByLabel("Value under the cursor");
    await visit.page.waitForFunction(() => !document.querySelector(".readout .value")?.textContent?.includes("…"));
    assert.equal(Number(await value.textContent()), shown(`5, ${row}, ${col}`));
  }
  await visit.close();
});

test("a slider moves the slice, and so do keys", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=0&tab=heat");
  await visit.drawn();
  const slider = visit.page.getByRole("slider", { name: "axis 0", exact: true });
  const tile = visit.page.waitForRequest(
    (request) => request.url().includes("/api/tile") && request.url().includes("at=9%2C0%2C0"),
  );
  await slider.fill("9");
  await tile;
  await visit.page.locator(".plane canvas").focus();
  await visit.page.keyboard.press("]");
  await visit.drawn();
  assert.equal(await slider.inputValue(), "10");
  await visit.page.keyboard.press("[");
  await visit.page.keyboard.press("[");
  await visit.drawn();
  assert.equal(await slider.inputValue(), "8");
  await visit.close();
});

test("the wheel, a box, dragging and keys zoom and pan", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=0&tab=heat");
  await visit.drawn();
  assert.equal(await region(visit), null);
  const at = await visit.cell(12, 12, SIDE, SIDE);
  await visit.page.mouse.move(at.x, at.y);
  await visit.page.mouse.wheel(0, -400);
  await visit.drawn();
  const zoomed = (await region(visit))?.split(",").map(Number) ?? [];
  assert.ok(Number(zoomed[1]) - Number(zoomed[0]) < SIDE, String(zoomed));
  await visit.page.keyboard.press("0");
  assert.equal(await region(visit), null);
  const [from, to] = [await visit.cell(6, 6, SIDE, SIDE), await visit.cell(11, 11, SIDE, SIDE)];
  await visit.page.keyboard.down("Shift");
  await visit.page.mouse.move(from.x, from.y);
  await visit.page.mouse.down();
  await visit.page.mouse.move(to.x, to.y, { steps: 5 });
  await visit.page.mouse.up();
  await visit.page.keyboard.up("Shift");
  const box = (await region(visit))?.split(",").map(Number) ?? [];
  assert.ok(Math.abs(Number(box[0]) - 6.5) < 0.2 && Math.abs(Number(box[1]) - 11.5) < 0.2, String(box));
  await visit.page.mouse.move(at.x, at.y);
  await visit.page.mouse.down();
  await visit.page.mouse.move(at.x + 80, at.y, { steps: 4 });
  await visit.page.mouse.up();
  const dragged = (await region(visit))?.split(",").map(Number) ?? [];
  assert.ok(
    Number(dragged[2]) < Number(box[2]) && Math.abs(Number(dragged[0]) - Number(box[0])) < 0.01,
    String(dragged),
  );
  await visit.page.keyboard.press("ArrowDown");
  const panned = (await region(visit))?.split(",").map(Number) ?? [];
  assert.ok(Number(panned[0]) > Number(dragged[0]));
  await visit.page.keyboard.press("+");
  const nearer = (await region(visit))?.split(",").map(Number) ?? [];
  assert.ok(Number(nearer[1]) - Number(nearer[0]) < Number(panned[1]) - Number(panned[0]));
  await visit.close();
});

test("a link restores what was seen", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=0&tab=heat");
  await visit.drawn();
  const { page } = visit;
  await page.getByRole("slider", { name: "axis 0", exact: true }).fill("7");
  await page.getByRole("radio", { name: "symlog" }).click();
  await page.getByRole("radio", { name: "blue-red" }).click();
  await page.getByRole("radio", { name: "percentile" }).click();
  const at = await visit.cell(12, 12, SIDE, SIDE);
  await page.mouse.move(at.x, at.y);
  await page.mouse.wheel(0, -300);
  await visit.drawn();
  const before = await region(visit);
  const link = new URL(page.url()).hash;
  await page.mouse.move(5, 5);
  await visit.drawn();
  const picture = await page.locator(".plane canvas").screenshot();
  const again = await Visit.open(chromium, viewer, link);
  await again.drawn();
  await again.page.waitForLoadState("networkidle");
  assert.equal(await region(again), before);
  assert.equal(await again.page.getByRole("slider", { name: "axis 0", exact: true }).inputValue(), "7");
  assert.equal(await again.page.getByRole("radio", { name: "symlog" }).getAttribute("aria-checked"), "true");
  assert.ok(picture.equals(await again.page.locator(".plane canvas").screenshot()), "the same picture");
  await again.close();
  await visit.close();
});

test("another tensor keeps the slice and the scale where they fit", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=0&tab=heat&at=4,0,0&scale=symlog");
  await visit.drawn();
  const { page } = visit;
  await page.locator(".files button").nth(1).click();
  await page.getByRole("heading", { name: "integrals.tens" }).waitFor();
  await visit.drawn();
  assert.equal(await page.getByRole("slider", { name: "p", exact: true }).inputValue(), "4");
  assert.equal(await page.getByRole("radio", { name: "symlog" }).getAttribute("aria-checked"), "true");
  await visit.close();
});

test("cells that are stored stand out, and make a spy plot", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=1&tab=heat");
  await visit.drawn();
  const canvas = visit.page.locator(".plane canvas");
  const plain = await canvas.screenshot();
  const asked = visit.page.waitForRequest((request) => request.url().includes("stored=1"));
  await visit.page.getByRole("radio", { name: "stand out" }).click();
  await asked;
  await visit.drawn();
  const marked = await canvas.screenshot();
  assert.ok(!plain.equals(marked));
  await visit.page.getByRole("radio", { name: "spy plot" }).click();
  await visit.drawn();
  assert.ok(!marked.equals(await canvas.screenshot()));
  await visit.page.getByRole("complementary", { name: "Legend" }).getByText("implied").waitFor();
  await visit.close();
});

test("keys find a tensor, go to the next, and explain themselves", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=2");
  const { page } = visit;
  const name = page.locator(".tensor-name");
  await page.keyboard.press("/");
  await page.keyboard.type("enc wei");
  await page.keyboard.press("Enter");
  await name.filter({ hasText: "encoder.weight" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByLabel("Search tensors").fill("");
  await page.getByLabel("Search tensors").blur();
  await page.keyboard.press("k");
  await name.filter({ hasText: "encoder.bias" }).waitFor();
  await page.keyboard.press("j");
  await name.filter({ hasText: "encoder.weight" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys and gestures" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await visit.close();
});
