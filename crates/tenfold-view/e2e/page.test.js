// The page itself: names are text, light and dark, small screens, long lists.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { browser, temporary, Viewer, Visit } from "./viewer.js";

const HOSTILE = [
  "<img src=x onerror=\"document.title='taken'\">",
  "<script>document.title='taken'</script>",
  "javascript:alert(1)",
  '"><svg onload=alert(1)>',
  "{{7*7}}${7*7}",
];

/** A file of the format safetensors, byte by byte. @param {string} file @param {string[]} names
 * @param {Record<string, string>} [metadata] */
function writeSafetensors(file, names, metadata) {
  const entries = names.map((name, i) => [name, { dtype: "F32", shape: [2, 3], data_offsets: [i * 24, i * 24 + 24] }]);
  const header = Buffer.from(
    JSON.stringify({ ...(metadata ? { __metadata__: metadata } : {}), ...Object.fromEntries(entries) }),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const data = Buffer.alloc(names.length * 24);
  for (let i = 0; i < names.length * 6; i += 1) data.writeFloatLE(i % 97, i * 4);
  writeFileSync(file, Buffer.concat([length, header, data]));
}

/** @type {import("playwright-core").Browser} */
let chromium;
/** @type {Viewer} */
let viewer;
before(async () => {
  const folder = temporary();
  const hostile = path.join(folder, "<b>bold<b>.safetensors");
  writeSafetensors(hostile, HOSTILE, { note: "<img src=x onerror=alert(2)>" });
  const many = path.join(folder, "many.safetensors");
  writeSafetensors(
    many,
    Array.from({ length: 100_000 }, (_, i) => `layers.${i % 500}.head.${Math.floor(i / 500)}.weight`),
  );
  viewer = await Viewer.start([hostile, many]);
  chromium = await browser();
});
after(async () => {
  await chromium.close();
  viewer.stop();
});

test("names and metadata of a file are shown as text", async () => {
  const visit = await Visit.open(chromium, viewer, "");
  const { page } = visit;
  await page.locator(".file-name").filter({ hasText: "<b>bold<b>.safetensors" }).waitFor();
  for (const [i, name] of HOSTILE.entries()) {
    await visit.go(`#file=0&tensor=${i}&tab=heat`);
    await page.locator(".tensor-name").filter({ hasText: name }).waitFor();
    await visit.drawn();
    assert.notEqual(await page.title(), "taken");
  }
  await page.locator("summary").click();
  await page.getByText("<img src=x onerror=alert(2)>", { exact: true }).waitFor();
  assert.equal(await page.locator("main img, main script, .browser img, .browser script, main b b").count(), 0);
  await visit.close();
});

test("a file that leads to the address opens the page, and the token does not stay in sight", async () => {
  const file = path.join(temporary(), "open.html");
  writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0; url=${viewer.address}">`);
  const page = await chromium.newPage();
  await page.goto(`file://${file}`);
  await page.locator(".file-name").first().waitFor();
  assert.equal(new URL(page.url()).origin, viewer.origin);
  assert.ok(!page.url().includes("token"), page.url());
  await page.close();
});

test("a list of a hundred thousand tensors is searched and stays small in the page", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=1");
  const { page } = visit;
  await page.locator(".tree .line").first().waitFor();
  await page.getByLabel("Search tensors").fill("layers.7. head.12.");
  await page.locator(".tree .line").filter({ hasText: "layers.7.head.12.weight" }).waitFor();
  await page.getByLabel("Search tensors").fill("");
  assert.ok((await page.locator(".tree .line").count()) < 200);
  await page.getByLabel("Search tensors").fill("head.3.");
  const names = await page.locator(".tree .line .label").allTextContents();
  assert.deepEqual(names.slice(0, 3), ["layers.0.head.3.weight", "layers.1.head.3.weight", "layers.2.head.3.weight"]);
  await visit.close();
});

test("one of a hundred thousand tensors is found to compare with", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=1&tab=compare");
  const { page } = visit;
  await page.getByLabel("File of B").selectOption({ label: "many.safetensors" });
  await page.getByLabel("Search B").fill("layers.7.head.12.");
  const choice = page.getByRole("combobox", { name: /^Tensor B/ });
  await choice.selectOption({ label: "layers.7.head.12.weight" });
  await page.waitForFunction(() => location.hash.includes("with="));
  assert.equal(await choice.locator("option:checked").textContent(), "layers.7.head.12.weight");
  await visit.close();
});

test("the page is dark where the system is, and the switch has the last word", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=0&tab=heat", { colorScheme: "dark" });
  const { page } = visit;
  await visit.drawn();
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.getByRole("button", { name: "Light" }).click();
  const light = await ground();
  assert.notEqual(dark, light);
  await page.keyboard.press("d");
  assert.equal(await ground(), dark);
  await page.emulateMedia({ colorScheme: "light" });
  assert.equal(await ground(), dark);
  await visit.close();
});

test("nothing is wider than the screen of a tablet or a small laptop", async () => {
  for (const viewport of [
    { width: 1280, height: 720 },
    { width: 1024, height: 768 },
    { width: 820, height: 1180 },
    { width: 768, height: 1024 },
  ]) {
    const visit = await Visit.open(chromium, viewer, "#file=0&tab=heat", { viewport, hasTouch: true });
    await visit.drawn();
    const wide = await visit.page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= viewport.width, `${wide} at ${viewport.width}`);
    if (viewport.width < 1180) {
      await visit.page.getByRole("button", { name: "Files and tensors" }).click();
      await visit.page.locator(".tree .line").nth(1).click();
      await visit.page.getByRole("navigation", { name: "Files and tensors" }).waitFor({ state: "hidden" });
    }
    await visit.close();
  }
});

test("everything that can be pressed or set has a name", async () => {
  const visit = await Visit.open(chromium, viewer, "#file=0&tab=heat");
  await visit.drawn();
  for (const tab of await visit.page.getByRole("tab").allTextContents()) {
    await visit.tab(tab.trim()).click();
    await visit.page.waitForLoadState("networkidle");
    const unnamed = await visit.page.evaluate(() => {
      /** @param {Element} one */
      const named = (one) =>
        one.getAttribute("aria-label") ||
        one.textContent?.trim() ||
        /** @type {HTMLInputElement} */ (one).labels?.length;
      return [...document.querySelectorAll("button, input, select, a, [tabindex='0'], [role=img]")]
        .filter((one) => !named(one))
        .map((one) => one.outerHTML);
    });
    assert.deepEqual(unnamed, [], tab);
  }
  await visit.close();
});

test("a viewer that was ended is said to be gone", async () => {
  const file = path.join(temporary(), "small.safetensors");
  writeSafetensors(file, ["w"]);
  const own = await Viewer.start([file]);
  const visit = await Visit.open(chromium, own, "#file=0&tab=heat");
  await visit.drawn();
  const ended = new Promise((resolve) => own.process.once("exit", resolve));
  own.stop();
  await ended;
  await visit.tab("Histogram").click();
  await visit.page.getByRole("alert").getByText("the viewer does not answer").waitFor();
  // The browser itself notes on the console that nobody answered, so this visit is not closed as others are.
  await visit.page.context().close();
});
