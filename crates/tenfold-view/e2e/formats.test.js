// Every format opens, and every tab of every tensor shows something.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { browser, demo, ROOT, tenfold, Viewer, Visit } from "./viewer.js";

/** @type {import("playwright-core").Browser} */
let chromium;
before(async () => {
  chromium = await browser();
});
after(() => chromium.close());

/** Looks at every tab of the first tensors of each file. @param {Visit} visit @param {string[]} files */
async function lookAtAll(visit, files) {
  const { page } = visit;
  for (const [i, file] of files.entries()) {
    await page.locator(".files button").nth(i).click();
    await page
      .locator(".files button.on")
      .filter({ hasText: path.basename(file) })
      .waitFor();
    const facts = page.getByRole("region", { name: /^Facts/ });
    await facts.filter({ hasText: path.basename(file) }).waitFor();
    for (const tab of await page.getByRole("tab").allTextContents()) {
      await visit.tab(tab.trim()).click();
      await page.getByRole("tab", { name: tab.trim(), selected: true }).waitFor();
      await page.waitForLoadState("networkidle");
    }
    const alerts = await page.getByRole("alert").allTextContents();
    assert.deepEqual(alerts, [], file);
  }
}

test("every file of the demo opens, and every tab of it", async () => {
  const folder = demo();
  // Raw numbers need words about them, and elements are opened by their yaml.
  const others = ["README.txt", "measured.dat", "overlap.elements"];
  const names = readdirSync(folder)
    .filter((name) => !others.includes(name))
    .sort();
  assert.ok(names.length >= 8);
  const files = names.map((name) => path.join(folder, name));
  const viewer = await Viewer.start(files);
  const visit = await Visit.open(chromium, viewer);
  await lookAtAll(visit, files);
  await visit.close();
  viewer.stop();
});

/** The first file of a format that holds a tensor with cells. @param {string} format */
function sample(format) {
  const folder = path.join(ROOT, "corpus", format, "good");
  for (const name of readdirSync(folder).sort()) {
    if (name.endsWith(".json")) continue;
    try {
      const info = JSON.parse(tenfold(["info", "--json", path.join(folder, name)]));
      const tensors = info.tensors.filter((/** @type {any} */ one) => (one.cells ?? one.stored) > 1);
      if (info.format === format && tensors.length) return path.join(folder, name);
    } catch {
      // A part of another file, or one that needs words about it: the next one may do.
    }
  }
  return null;
}

test("a tensor without cells is no trouble", async () => {
  const files = [path.join(ROOT, "corpus/blz/good/empty.blz")];
  const viewer = await Viewer.start(files);
  const visit = await Visit.open(chromium, viewer);
  await visit.page.getByText("this tensor has no cells").waitFor();
  await lookAtAll(visit, files);
  await visit.close();
  viewer.stop();
});

test("a file of every format opens", async () => {
  const formats = readdirSync(path.join(ROOT, "corpus"))
    .filter((name) => name !== "make")
    .sort();
  const files = formats.flatMap((format) => sample(format) ?? []);
  assert.equal(files.length, formats.length, `of ${formats.join(" ")}: ${files.join(" ")}`);
  const viewer = await Viewer.start(files);
  const visit = await Visit.open(chromium, viewer);
  await lookAtAll(visit, files);
  await visit.close();
  viewer.stop();
});
