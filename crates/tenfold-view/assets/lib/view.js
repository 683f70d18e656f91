// The view: everything that a link restores.

import { MAPS } from "./colormap.js";
import { FORMATS } from "./number.js";
import { OVERLAYS, REDUCTIONS } from "../widgets/painter.js";
import { rounded } from "./region.js";
import { SCALES } from "./scale.js";

/** @typedef {import("./api.js").TensorFacts} TensorFacts */
/** @typedef {import("./region.js").Region} Region */
/** @typedef {"heat" | "lines" | "histogram" | "table" | "blocks" | "train" | "compare"} TabName */
/** @typedef {"full" | "percentile" | "manual"} RangeMode */
/** @typedef {"value" | "real" | "imaginary" | "magnitude" | "phase" | `${number}`} Part */
/** @typedef {{file: number, tensor: number, tab: TabName | null, rows: number | null, cols: number | null,
 *   at: number[], region: Region | null, part: string, scale: import("./scale.js").ScaleName,
 *   map: import("./colormap.js").MapName, reduction: import("../widgets/painter.js").Reduction,
 *   overlay: import("../widgets/painter.js").Overlay, mode: RangeMode, tail: number, low: number | null,
 *   high: number | null, along: number | null, several: string, format: import("./number.js").FormatName,
 *   bins: number, counts: "log" | "linear", with: [number, number] | null, core: number}} View */
/** @typedef {(patch: Partial<View>) => void} Change */

/** @type {Record<TabName, string>} */
export const TABS = {
  heat: "Heat map",
  lines: "Lines",
  histogram: "Histogram",
  table: "Table",
  blocks: "Blocks",
  train: "Train",
  compare: "Compare",
};

/** @type {RangeMode[]} */
export const MODES = ["full", "percentile", "manual"];

/** @type {View} */
export const INITIAL = {
  file: 0,
  tensor: 0,
  tab: null,
  rows: null,
  cols: null,
  at: [],
  region: null,
  part: "",
  scale: "linear",
  map: "viridis",
  reduction: "mean",
  overlay: "none",
  mode: "full",
  tail: 1,
  low: null,
  high: null,
  along: null,
  several: "",
  format: "exact",
  bins: 64,
  counts: "log",
  with: null,
  core: 0,
};

/** The tabs that apply to a tensor. @param {TensorFacts} facts @returns {TabName[]} */
export function tabsOf(facts) {
  /** @type {TabName[]} */
  const tabs = facts.drawable ? ["heat", "lines", "histogram", "table"] : [];
  if (facts.kind === "labelled" || facts.kind === "sparse") tabs.push("blocks");
  if (facts.train) tabs.push("train");
  if (facts.drawable) tabs.push("compare");
  return tabs;
}

/** The first tab to open. @param {TensorFacts} facts @returns {TabName | null} */
export function firstTab(facts) {
  const tabs = tabsOf(facts);
  const ndim = facts.dims.length;
  /** @type {TabName} */
  const wanted = ndim === 0 ? "table" : ndim === 1 ? "lines" : "heat";
  return tabs.includes(wanted) ? wanted : (tabs[0] ?? null);
}

/** The components of a tensor's elements. @param {TensorFacts} facts @returns {string[]} */
export function partsOf(facts) {
  if (facts.complex || facts.parts === 2) return ["magnitude", "phase", "real", "imaginary"];
  if (facts.parts > 2) return ["magnitude", ...Array.from({ length: facts.parts }, (_, i) => String(i))];
  return ["value"];
}

/** The parts of a view that fit a tensor. @param {View} view @param {TensorFacts} facts @returns {View} */
export function fitted(view, facts) {
  const sizes = facts.dims.map((dim) => dim.size ?? 0);
  const ndim = sizes.length;
  const tabs = tabsOf(facts);
  const parts = partsOf(facts);
  const at = sizes.map((size, i) => Math.max(0, Math.min(Math.trunc(view.at[i] ?? 0) || 0, size - 1)));
  /** @param {number | null} axis */
  const isAxis = (axis) => axis !== null && axis >= 0 && axis < ndim;
  let rows = isAxis(view.rows) ? view.rows : null;
  let cols = isAxis(view.cols) ? view.cols : null;
  if (rows === null || cols === null || rows === cols || ndim < 2) {
    [rows, cols] = ndim >= 2 ? [ndim - 2, ndim - 1] : [ndim === 1 ? 0 : null, null];
  }
  const fits = { ...view, at, rows, cols };
  return {
    ...fits,
    region: view.region && isNear(view.region, extent(fits, facts)) ? view.region : null,
    tab: view.tab && tabs.includes(view.tab) ? view.tab : firstTab(facts),
    part: parts.includes(view.part) ? view.part : (parts[0] ?? "value"),
    along: isAxis(view.along) ? view.along : ndim ? ndim - 1 : null,
    core: Math.min(view.core, Math.max((facts.train?.sizes.length ?? 1) - 1, 0)),
  };
}

/** Whether a region shows part of a slice, not all of it zoomed out: that was one of a larger slice.
 * @param {Region} region @param {[number, number]} extent */
function isNear({ r0, r1, c0, c1 }, [rows, cols]) {
  const isInside = r0 < rows && r1 > 0 && c0 < cols && c1 > 0;
  return isInside && (r1 - r0 <= rows * 1.01 || c1 - c0 <= cols * 1.01);
}

/** The number of rows and columns of the slice. @param {Pick<View, "rows" | "cols">} view @param {TensorFacts} facts
 * @returns {[number, number]} */
export function extent(view, facts) {
  /** @param {number | null} axis */
  const size = (axis) => (axis === null ? 1 : (facts.dims[axis]?.size ?? 0));
  return [size(view.rows), size(view.cols)];
}

/** The query parameters of the slice. @param {View} view */
export function sliceQuery(view) {
  return { file: view.file, tensor: view.tensor, rows: view.rows, cols: view.cols, at: view.at.join(",") };
}

/** The name of a dimension. @param {TensorFacts} facts @param {number | null} axis */
export function dimName(facts, axis) {
  if (axis === null) return "";
  return facts.dims[axis]?.name ?? `axis ${axis}`;
}

/** @param {View} view */
export function fragment(view) {
  const words = new URLSearchParams({ file: String(view.file), tensor: String(view.tensor) });
  for (const key of /** @type {(keyof View)[]} */ (Object.keys(INITIAL))) {
    const value = view[key];
    if (key === "file" || key === "tensor" || value === null || value === INITIAL[key]) continue;
    if (key === "region" && view.region) {
      const { r0, r1, c0, c1 } = rounded(view.region);
      words.set(key, [r0, r1, c0, c1].join(","));
    } else if (key === "at" ? view.at.some((i) => i > 0) : true) words.set(key, String(value));
  }
  return `#${words.toString().replaceAll("%2C", ",")}`;
}

/** @param {string | null} text */
const numbers = (text) => (text ? text.split(",").map(Number) : []);

/** @template T @param {readonly T[]} allowed @param {string | null} text @param {T} otherwise @returns {T} */
const oneOf = (allowed, text, otherwise) => allowed.find((one) => one === text) ?? otherwise;

/** @param {string} text @returns {View} */
export function parseFragment(text) {
  const words = new URLSearchParams(text.replace(/^#/, ""));
  /** @template T @param {string} key @param {T} otherwise */
  const number = (key, otherwise) => {
    const found = words.get(key);
    return found === null || found === "" || !Number.isFinite(Number(found)) ? otherwise : Number(found);
  };
  /** @param {string} key @param {number} otherwise */
  const position = (key, otherwise) => Math.max(0, Math.trunc(number(key, otherwise)));
  const [r0, r1, c0, c1] = numbers(words.get("region"));
  const isRegion =
    [r0, r1, c0, c1].every((end) => Number.isFinite(end)) && Number(r1) > Number(r0) && Number(c1) > Number(c0);
  const [file, tensor] = numbers(words.get("with"));
  return {
    file: position("file", 0),
    tensor: position("tensor", 0),
    tab: oneOf(/** @type {TabName[]} */ (Object.keys(TABS)), words.get("tab"), null),
    rows: number("rows", null),
    cols: number("cols", null),
    at: numbers(words.get("at")).map((i) => (Number.isFinite(i) ? i : 0)),
    region: isRegion ? { r0: Number(r0), r1: Number(r1), c0: Number(c0), c1: Number(c1) } : null,
    part: words.get("part") ?? "",
    scale: oneOf(SCALES, words.get("scale"), INITIAL.scale),
    map: oneOf(MAPS, words.get("map"), INITIAL.map),
    reduction: oneOf(REDUCTIONS, words.get("reduction"), INITIAL.reduction),
    overlay: oneOf(OVERLAYS, words.get("overlay"), INITIAL.overlay),
    mode: oneOf(MODES, words.get("mode"), INITIAL.mode),
    tail: Math.min(number("tail", 1), 49),
    low: number("low", null),
    high: number("high", null),
    along: number("along", null),
    several: words.get("several") ?? "",
    format: oneOf(FORMATS, words.get("format"), INITIAL.format),
    bins: Math.min(Math.max(position("bins", 64), 2), 512),
    counts: oneOf(/** @type {("log" | "linear")[]} */ (["log", "linear"]), words.get("counts"), "log"),
    with: Number.isInteger(file) && Number.isInteger(tensor) ? [Number(file), Number(tensor)] : null,
    core: position("core", 0),
  };
}
