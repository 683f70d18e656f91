// The modules of the page that need no browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { colour } from "../assets/lib/colormap.js";
import { indices, numpy, show } from "../assets/lib/expression.js";
import { positions } from "../assets/lib/position.js";
import { naturalOrder } from "../assets/lib/natural.js";
import { bytes, formatted, short, step } from "../assets/lib/number.js";
import { cells, held, whole } from "../assets/lib/region.js";
import { numberAt, placer } from "../assets/lib/scale.js";
import { parseTile } from "../assets/lib/tile.js";
import { Names } from "../assets/widgets/tree.js";
import { fitted, fragment, INITIAL, parseFragment } from "../assets/lib/view.js";

/** @type {import("../assets/lib/api.js").TensorFacts} */
const FACTS = {
  name: "w",
  dtype: "f64",
  complex: false,
  parts: 1,
  kind: "dense",
  dims: [4, 5, 6].map((size) => ({ name: null, size, labels: null })),
  cells: 120,
  stored: 120,
  nbytes: 960,
  density: null,
  order: "row",
  symmetries: [],
  metadata: {},
  checksum: "none",
  train: null,
  show: "tenfold show 'a.npz:w'",
  drawable: true,
  why: null,
};

/** @type {import("../assets/lib/api.js").FileFacts} */
const FILE = { name: "a.npz", path: "runs/a.npz", format: "npz", version: null, bytes: 1, tensors: 2, metadata: {}, notes: [] };

/** @param {number} a @param {number} b */
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-12, `${a} is not ${b}`);

test("names stand in the order in which people count", () => {
  const names = ["a.10", "a.9", "A.2", "a.09", "b"];
  assert.deepEqual(
    naturalOrder(names).map((i) => names[i]),
    ["A.2", "a.9", "a.09", "a.10", "b"],
  );
});

test("a tree joins groups that hold nothing else, and finds names by all words", () => {
  const names = new Names(["m.l.0.w", "m.l.0.b", "m.l.1.w", "x"]);
  const lines = names.lines("").map((line) => `${line.depth} ${line.label}`);
  assert.deepEqual(lines, ["0 m.l.", "1 0.", "2 b", "2 w", "1 1.w", "0 x"]);
  assert.deepEqual(
    names.matching("L.0 W").map((i) => names.names[i]),
    ["m.l.0.w"],
  );
});

test("numbers stand on a scale where its definition says", () => {
  near(placer("linear", { low: 1, high: 5 })(2), 0.25);
  near(placer("log", { low: 1, high: 1000 })(10), 1 / 3);
  assert.equal(placer("log", { low: 1, high: 1000 })(-3), 0);
  // c is a thousandth of 100: log10(1 + 9.9 / 0.1) = 2 of log10(1001).
  near(placer("symlog", { low: -100, high: 100 })(9.9), 0.5 + 1 / Math.log10(1001));
  assert.equal(placer("linear", { low: 7, high: 7 })(7), 0.5);
  assert.equal(placer("linear", { low: -Number.MAX_VALUE, high: Number.MAX_VALUE })(0), 0.5);
  for (const scale of /** @type {const} */ (["linear", "log", "symlog"])) {
    const range = { low: 0.5, high: 2e5 };
    for (const place of [0, 0.3, 1]) near(placer(scale, range)(numberAt(scale, range, place)), place);
  }
});

test("maps begin and end with their published colours", () => {
  assert.deepEqual(colour("viridis", 0), [0x44, 0x01, 0x54]);
  assert.deepEqual(colour("viridis", 1), [0xfd, 0xe7, 0x25]);
  assert.deepEqual(colour("cividis", 1 / 9), [0x00, 0x33, 0x6f]);
  assert.deepEqual(colour("blue-red", 0.5), [0xf5, 0xf5, 0xf5]);
});

test("numbers are written shortly, and exact texts keep what is no fraction", () => {
  assert.deepEqual(
    [0, 1234567, 0.00012, 2.5, NaN, -Infinity].map((x) => short(x)),
    ["0", "1.235e6", "1.2e-4", "2.5", "NaN", "-inf"],
  );
  assert.equal(formatted("18446744073709551615", "fixed"), "18446744073709551615");
  assert.equal(formatted("0.1", "fixed"), "0.1000");
  assert.equal(formatted("NaN", "scientific"), "NaN");
  assert.equal(formatted("1.5+2.5i", "fixed"), "1.5+2.5i");
  assert.equal(bytes(1536), "1.5 KiB");
  assert.equal(step(100, 6), 20);
});

test("a region shows all of a slice, and is held near it", () => {
  const all = whole(10, 10, { width: 200, height: 100 });
  assert.deepEqual(all, { r0: 0, r1: 10, c0: -5, c1: 15 });
  assert.deepEqual(whole(1000, 5, { width: 100, height: 100 }), { r0: 0, r1: 1000, c0: 0, c1: 5 });
  assert.equal(held({ r0: -90, r1: 90, c0: -90, c1: 90 }, 10, 10, all), all);
  assert.deepEqual(cells({ r0: -3, r1: 4.2, c0: 2.5, c1: 99 }, 10, 10), { r0: 0, r1: 5, c0: 2, c1: 10 });
});

test("a tile is read by its layout, and one that is cut is refused", () => {
  const tile = Buffer.alloc(32 + 2 * 13);
  tile.write("TFT1");
  [1, 2, 1].forEach((number, i) => tile.writeUInt32LE(number, 4 + i * 4));
  tile.writeDoubleLE(-1, 16);
  tile.writeDoubleLE(3, 24);
  [-1, 3, -1, 3, -1, 3].forEach((number, i) => tile.writeFloatLE(number, 32 + i * 4));
  tile.writeUInt8(17, 32 + 24);
  const buffer = tile.buffer.slice(tile.byteOffset, tile.byteOffset + tile.length);
  const parsed = parseTile(/** @type {ArrayBuffer} */ (buffer));
  assert.deepEqual([parsed.h, parsed.w, parsed.exact, parsed.lowest, parsed.highest], [1, 2, true, -1, 3]);
  assert.deepEqual(
    [[...parsed.mean], [...parsed.flags]],
    [
      [-1, 3],
      [17, 0],
    ],
  );
  assert.throws(() => parseTile(/** @type {ArrayBuffer} */ (buffer.slice(0, 50))), /cut short/);
  assert.throws(() => parseTile(new ArrayBuffer(40)), /no tile/);
});

test("a fragment holds a view, and nonsense in it is left out", () => {
  const view = {
    ...INITIAL,
    file: 2,
    at: [1, 2, 3],
    scale: /** @type {const} */ ("symlog"),
    region: { r0: 0, r1: 2.5, c0: -1, c1: 4 },
  };
  assert.deepEqual(parseFragment(fragment(view)), view);
  const odd = parseFragment("#file=-3&tensor=x&tab=nothing&scale=cubic&region=5,1,2,3&at=1,,z&with=1&bins=1e9&map=jet");
  assert.deepEqual(odd, { ...INITIAL, at: [1, 0, 0], bins: 512 });
});

test("a view is fitted to a tensor", () => {
  const view = fitted({ ...INITIAL, rows: 7, cols: 0, at: [99, 2], part: "phase", tab: "train" }, FACTS);
  assert.deepEqual([view.rows, view.cols, view.at, view.part, view.tab], [1, 2, [3, 2, 0], "value", "heat"]);
  const kept = fitted({ ...INITIAL, rows: 2, cols: 0, at: [0, 4, 0], tab: "table" }, FACTS);
  assert.deepEqual([kept.rows, kept.cols, kept.at, kept.tab], [2, 0, [0, 4, 0], "table"]);
  const zoomed = { r0: 1, r1: 4, c0: -2, c1: 8 };
  assert.deepEqual(fitted({ ...INITIAL, region: zoomed }, FACTS).region, zoomed);
  assert.equal(fitted({ ...INITIAL, region: { r0: 0, r1: 60, c0: 0, c1: 60 } }, FACTS).region, null);
  assert.equal(fitted({ ...INITIAL, region: { r0: 7, r1: 9, c0: 0, c1: 3 } }, FACTS).region, null);
});

test("the part on the screen has a name for NumPy and for the command", () => {
  const view = fitted({ ...INITIAL, rows: 2, cols: 0, at: [0, 3, 0] }, FACTS);
  const part = { r0: 1, r1: 4, c0: 0, c1: 4 };
  assert.equal(indices(view, FACTS, part), ":, 3, 1:4");
  assert.equal(numpy(view, FACTS, part, FILE), 'np.load("runs/a.npz")["w"][:, 3, 1:4].T');
  assert.equal(show(view, FACTS, part), "tenfold show 'a.npz:w' --slice ':, 3, 1:4'");
});

test("positions are single ones and ranges", () => {
  assert.deepEqual(positions("0, 4 10:13, x, 99, 4", 50), [0, 4, 10, 11, 12]);
});
