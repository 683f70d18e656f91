// A running `tenfold view`, and a browser that looks at it.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

/** @typedef {import("playwright-core").Page} Page */

/** The root of the workspace; named by the one who runs the tests elsewhere. */
export const ROOT = path.resolve(process.env["TENFOLD_ROOT"] ?? path.join(import.meta.dirname, "../../.."));
const TENFOLD = process.env["TENFOLD"] ?? path.join(ROOT, "target/debug/tenfold");
const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** What the command prints. @param {string[]} words @param {string} [cwd] */
export function tenfold(words, cwd = ROOT) {
  return execFileSync(TENFOLD, words, { cwd, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });
}

/** A folder that is gone when the process ends. */
export function temporary() {
  const folder = mkdtempSync(path.join(tmpdir(), "tenfold-view-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The files of `tenfold demo`. */
export function demo() {
  const folder = path.join(temporary(), "demo");
  tenfold(["--quiet", "demo", folder]);
  assert.ok(existsSync(path.join(folder, "field.blz")));
  return folder;
}

/** A viewer of some files. */
export class Viewer {
  /** @param {import("node:child_process").ChildProcess} process @param {string} address */
  constructor(process, address) {
    this.process = process;
    this.address = address;
    this.origin = new URL(address).origin;
  }

  /** @param {string[]} files @param {string} [cwd] */
  static async start(files, cwd = ROOT) {
    const child = spawn(TENFOLD, ["view", "--no-open", ...files], { cwd, stdio: ["ignore", "pipe", "inherit"] });
    // One that a failed test left behind neither keeps the tests running nor outlives them.
    child.unref();
    process.on("exit", () => child.kill("SIGINT"));
    const lines = createInterface({ input: child.stdout });
    /** @type {string} */
    const first = await new Promise((resolve, reject) => {
      lines.once("line", resolve);
      child.once("exit", (code) => reject(new Error(`tenfold view ended with ${code}`)));
    });
    /** @type {import("node:net").Socket} */ (child.stdout).unref();
    return new Viewer(child, first.trim());
  }

  stop() {
    this.process.kill("SIGINT");
  }
}

/** A browser with nothing in it. */
export async function browser() {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

/** A page on which nothing may go wrong, and which may ask nobody else. */
export class Visit {
  /** @param {Viewer} viewer @param {Page} page */
  constructor(viewer, page) {
    this.viewer = viewer;
    this.page = page;
    /** @type {string[]} */
    this.problems = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") this.problems.push(message.text());
    });
    page.on("response", async (response) => {
      if (response.status() >= 400) this.problems.push(`${response.url()} ${await response.text()}`);
    });
    page.on("pageerror", (error) => this.problems.push(String(error)));
    page.on("dialog", (dialog) => {
      this.problems.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("request", (request) => {
      const { origin, protocol } = new URL(request.url());
      if (origin !== viewer.origin && protocol !== "blob:") this.problems.push(`a request to ${request.url()}`);
    });
  }

  /** @param {import("playwright-core").Browser} browser @param {Viewer} viewer @param {string} [fragment]
   * @param {import("playwright-core").BrowserContextOptions} [options] */
  static async open(browser, viewer, fragment = "", options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    const visit = new Visit(viewer, await context.newPage());
    await visit.page.goto(viewer.address + fragment);
    return visit;
  }

  /** Another state of the same page. @param {string} fragment */
  async go(fragment) {
    await this.page.evaluate((hash) => {
      location.hash = hash;
    }, fragment);
  }

  tab(/** @type {string} */ name) {
    return this.page.getByRole("tab", { name, exact: true });
  }

  /** Waits until all pictures are drawn. */
  async drawn() {
    await this.page.waitForFunction(() => {
      const all = [...document.querySelectorAll(".plane canvas")];
      return all.length > 0 && all.every((one) => one.getAttribute("data-state") === "drawn");
    });
  }

  /** The middle of a cell of a picture that shows all of its slice with square cells.
   * @param {number} row @param {number} col @param {number} rows @param {number} cols */
  async cell(row, col, rows, cols) {
    const box = await this.page.locator(".plane canvas").first().boundingBox();
    assert.ok(box);
    const [left, top, width, height] = [64, 40, box.width - 74, box.height - 50];
    const side = Math.min(width / cols, height / rows);
    return {
      x: box.x + left + width / 2 + (col + 0.5 - cols / 2) * side,
      y: box.y + top + height / 2 + (row + 0.5 - rows / 2) * side,
    };
  }

  /** Ends the visit; nothing may have gone wrong. */
  async close() {
    await this.page.context().close();
    assert.deepEqual(this.problems, []);
  }
}
