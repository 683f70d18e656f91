// A slice on a canvas, with pan and zoom.

import * as api from "../lib/api.js";
import { pressed, useGestures } from "./gesture.js";
import { useKeys } from "./keys.js";
import { short } from "../lib/number.js";
import { paintTile, plane } from "./painter.js";
import { useAnswer, useSize } from "../lib/fetch.js";
import { cells, held, rounded, square, whole } from "../lib/region.js";
import { drawRulers, inner, margin } from "./ruler.js";
import { NAN, ABOVE, BELOW } from "../lib/tile.js";
import { ink } from "./theme.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../lib/ui.js";

/** @typedef {import("../lib/region.js").Region} Region */
/** @typedef {import("../lib/tile.js").Tile} Tile */
/** @typedef {import("./painter.js").Paint} Paint */
/** @typedef {{row: number, col: number}} Cell */
/** @typedef {{tile: Tile, part: Region, took: number, source: string}} Shot */
/** @typedef {{source: import("../lib/api.js").Query, extent: [number, number], names: [string, string],
 *   region: Region | null, onRegion: (region: Region | null) => void,
 *   paint: Omit<Paint, "range"> & {range: import("../lib/scale.js").Range | null}, cursor: Cell | null,
 *   onCursor: (cell: Cell | null) => void, label: string, hasKeys?: boolean, onShot?: (shot: Shot) => void,
 *   canvas?: {current: HTMLCanvasElement | null}}} Props */

/** Smallest cells with numbers, in pixels. */
const ROOM_FOR_TEXT = { width: 46, height: 17 };
/** Smallest cells with grid lines, in pixels. */
const ROOM_FOR_LINES = 12;
/** Most pixels requested along a side. */
const MOST = 2048;

/** @param {Props} props */
export function Plane(props) {
  const { source, extent, region, cursor, label } = props;
  const [rows, cols] = extent;
  const frame = useRef(/** @type {HTMLDivElement | null} */ (null));
  const own = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const canvas = props.canvas ?? own;
  const size = useSize(frame);
  const [box, setBox] = useState(/** @type {import("./gesture.js").Box | null} */ (null));
  const area = inner(size);
  const edge = margin(size);
  const all = whole(rows, cols, area);
  const seen = region ?? all;
  const ready = size.width > 0 && rows > 0 && cols > 0;
  const shot = useShot(source, seen, extent, area, ready, props.paint.overlay !== "none");
  const overview = useOverview(shot.answer, extent);
  const perPixel = { row: (seen.r1 - seen.r0) / area.height, col: (seen.c1 - seen.c0) / area.width };

  useEffect(() => {
    if (shot.answer) props.onShot?.(shot.answer);
  }, [shot.answer]);
  /** @type {import("./gesture.js").Hands} */
  const hands = {
    toCell: (x, y) => ({
      row: seen.r0 + (y - edge.top) * perPixel.row,
      col: seen.c0 + (x - edge.left) * perPixel.col,
    }),
    region: () => seen,
    perPixel: () => perPixel,
    setRegion: (next) => props.onRegion(next && kept(next, extent, all, area)),
    setBox,
    cursor: () => cursor,
    setCursor: (cell) => props.onCursor(cell && isInside(cell, extent) ? cell : null),
  };
  useGestures(canvas, hands);
  useKeys((event) => (props.hasKeys ? pressed(event, hands) : false));
  useLayoutEffect(() => {
    const pen = canvas.current?.getContext("2d");
    if (!pen || !ready) return;
    const source = JSON.stringify(props.source);
    const shots = [overview, shot.answer].filter((one) => one?.source === source || (one && one === shot.answer));
    draw(pen, /** @type {Shot[]} */ (shots), { ...props, region: seen, size, box });
  });
  const error = shot.error;
  return html`<div class="plane" ref=${frame}>
    <canvas
      ref=${canvas}
      tabindex="0"
      role="img"
      aria-label=${label}
      data-state=${shot.isBusy ? "busy" : shot.answer ? "drawn" : "empty"}
    ></canvas>
    ${error ? html`<p class="notice error" role="alert">${error}</p>` : null}
    ${rows === 0 || cols === 0 ? html`<p class="notice" role="status">this tensor has no cells</p>` : null}
  </div>`;
}

/** A new region within bounds: square cells stay square. @param {Region} next
 * @param {[number, number]} extent @param {Region} all @param {{width: number, height: number}} area */
function kept(next, [rows, cols], all, area) {
  const isSquare = Math.abs(((all.r1 - all.r0) / (all.c1 - all.c0)) * (area.width / area.height) - 1) < 1e-6;
  const fits = held(isSquare ? square(next, area) : next, rows, cols, all);
  return fits === all ? null : rounded(fits);
}

/** @param {Cell} cell @param {[number, number]} extent */
const isInside = ({ row, col }, [rows, cols]) => row >= 0 && col >= 0 && row < rows && col < cols;

/** The tile of the visible region. @param {import("../lib/api.js").Query} source @param {Region} seen
 * @param {[number, number]} extent @param {{width: number, height: number}} area @param {boolean} isReady
 * @param {boolean} wantsStored */
function useShot(source, seen, extent, area, isReady, wantsStored) {
  const part = cells(seen, ...extent);
  const dense = Math.min(devicePixelRatio || 1, 2);
  /** @param {number} n @param {number} length @param {number} span */
  const pixels = (n, length, span) => Math.max(1, Math.min(n, MOST, Math.ceil((length * dense * n) / span)));
  const h = pixels(part.r1 - part.r0, area.height, seen.r1 - seen.r0);
  const w = pixels(part.c1 - part.c0, area.width, seen.c1 - seen.c0);
  const isSeen = part.r1 > part.r0 && part.c1 > part.c0;
  const query = { ...source, ...part, h, w, stored: wantsStored ? 1 : null };
  const name = JSON.stringify(source);
  return useAnswer(
    isReady && isSeen ? JSON.stringify(query) : null,
    async (signal) => {
      const start = performance.now();
      const tile = await api.tile(query, signal);
      return /** @type {Shot} */ ({ tile, part, took: performance.now() - start, source: name });
    },
    25,
  );
}

/** The last tile of the whole slice, drawn in the background until a sharper one arrives. @param {Shot | null} shot
 * @param {[number, number]} extent */
function useOverview(shot, [rows, cols]) {
  const ref = useRef(/** @type {Shot | null} */ (null));
  if (shot && shot.part.r1 - shot.part.r0 === rows && shot.part.c1 - shot.part.c0 === cols) ref.current = shot;
  return ref.current && ref.current.source === shot?.source ? ref.current : null;
}

/** Painted tiles, repainted only for another tile or other colors.
 * @type {WeakMap<Tile, {look: string, canvas: HTMLCanvasElement, pixels: Uint8ClampedArray}>} */
const painted = new WeakMap();

/** @param {Tile} tile @param {Paint} paint */
function image(tile, paint) {
  const look = JSON.stringify(paint);
  const known = painted.get(tile);
  if (known?.look === look) return known;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.max(tile.w, 1), Math.max(tile.h, 1)];
  const data = paintTile(tile, paint);
  canvas.getContext("2d")?.putImageData(data, 0, 0);
  const made = { look, canvas, pixels: data.data };
  painted.set(tile, made);
  return made;
}

/** @typedef {Props & {region: Region, size: {width: number, height: number},
 *   box: import("./gesture.js").Box | null}} Scene */

/** @param {CanvasRenderingContext2D} pen @param {Shot[]} shots @param {Scene} scene */
function draw(pen, shots, scene) {
  const { size, region, paint, extent } = scene;
  const dense = Math.min(devicePixelRatio || 1, 2);
  const [width, height] = [Math.round(size.width * dense), Math.round(size.height * dense)];
  if (pen.canvas.width !== width || pen.canvas.height !== height)
    [pen.canvas.width, pen.canvas.height] = [width, height];
  pen.setTransform(dense, 0, 0, dense, 0, 0);
  pen.fillStyle = ink("stage");
  pen.fillRect(0, 0, size.width, size.height);
  const area = inner(size);
  const edge = margin(size);
  const per = { x: area.width / (region.c1 - region.c0), y: area.height / (region.r1 - region.r0) };
  /** @param {number} col */
  const x = (col) => edge.left + (col - region.c0) * per.x;
  /** @param {number} row */
  const y = (row) => edge.top + (row - region.r0) * per.y;
  pen.save();
  pen.beginPath();
  pen.rect(edge.left, edge.top, area.width, area.height);
  pen.clip();
  pen.imageSmoothingEnabled = false;
  for (const { tile, part } of shots) {
    const range = paint.range ?? finite(tile);
    const picture = image(tile, { ...paint, range });
    pen.drawImage(picture.canvas, x(part.c0), y(part.r0), (part.c1 - part.c0) * per.x, (part.r1 - part.r0) * per.y);
  }
  const last = shots.at(-1);
  if (last && Math.min(per.x, per.y) >= ROOM_FOR_LINES) drawGrid(pen, last.part, x, y);
  if (last && per.x >= ROOM_FOR_TEXT.width && per.y >= ROOM_FOR_TEXT.height) drawNumbers(pen, last, scene, x, y, per);
  pen.strokeStyle = ink("line-strong");
  pen.lineWidth = 1;
  pen.strokeRect(x(0) - 0.5, y(0) - 0.5, extent[1] * per.x + 1, extent[0] * per.y + 1);
  if (scene.cursor) drawCursor(pen, scene.cursor, x, y, per, extent);
  if (scene.box) drawBox(pen, scene.box);
  pen.restore();
  drawRulers(pen, region, size, extent, scene.names);
}

/** The range of a tile, used until the range of the slice is known. @param {Tile} tile */
function finite(tile) {
  return Number.isFinite(tile.lowest) ? { low: tile.lowest, high: tile.highest } : { low: 0, high: 1 };
}

/** @typedef {(index: number) => number} Place */

/** @param {CanvasRenderingContext2D} pen @param {Region} part @param {Place} x @param {Place} y */
function drawGrid(pen, part, x, y) {
  pen.strokeStyle = ink("grid");
  pen.lineWidth = 1;
  pen.beginPath();
  for (let row = part.r0; row <= part.r1; row += 1) {
    pen.moveTo(x(part.c0), Math.round(y(row)) + 0.5);
    pen.lineTo(x(part.c1), Math.round(y(row)) + 0.5);
  }
  for (let col = part.c0; col <= part.c1; col += 1) {
    pen.moveTo(Math.round(x(col)) + 0.5, y(part.r0));
    pen.lineTo(Math.round(x(col)) + 0.5, y(part.r1));
  }
  pen.stroke();
}

/** @param {CanvasRenderingContext2D} pen @param {Shot} shot @param {Scene} scene @param {Place} x @param {Place} y
 * @param {{x: number, y: number}} per */
function drawNumbers(pen, { tile, part }, scene, x, y, per) {
  if (tile.h !== part.r1 - part.r0 || tile.w !== part.c1 - part.c0) return;
  const numbers = plane(tile, scene.paint.reduction);
  const { pixels } = image(tile, { ...scene.paint, range: scene.paint.range ?? finite(tile) });
  const digits = per.x > 90 ? 6 : per.x > 62 ? 4 : 3;
  pen.font = `${per.x > 62 ? 11 : 10}px ui-monospace, 'DejaVu Sans Mono', monospace`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (let i = 0; i < tile.h * tile.w; i += 1) {
    const [r, g, b] = pixels.subarray(i * 4, i * 4 + 3);
    const isLight = (r ?? 0) * 0.3 + (g ?? 0) * 0.59 + (b ?? 0) * 0.11 > 140;
    pen.fillStyle = isLight ? "rgb(10 16 20 / 86%)" : "rgb(255 255 255 / 90%)";
    const [row, col] = [part.r0 + Math.floor(i / tile.w), part.c0 + (i % tile.w)];
    pen.fillText(spelled(numbers[i] ?? NaN, tile.flags[i] ?? 0, digits), x(col + 0.5), y(row + 0.5));
  }
}

/** @param {number} number @param {number} flags @param {number} digits */
function spelled(number, flags, digits) {
  if (flags & NAN) return "NaN";
  if (flags & ABOVE) return "inf";
  return flags & BELOW ? "-inf" : short(number, digits);
}

/** @param {CanvasRenderingContext2D} pen @param {Cell} cell @param {Place} x @param {Place} y
 * @param {{x: number, y: number}} per @param {[number, number]} extent */
function drawCursor(pen, { row, col }, x, y, per, [rows, cols]) {
  pen.fillStyle = ink("hair");
  pen.fillRect(x(0), y(row + 0.5) - 0.5, cols * per.x, 1);
  pen.fillRect(x(col + 0.5) - 0.5, y(0), 1, rows * per.y);
  const [w, h] = [Math.max(per.x, 7), Math.max(per.y, 7)];
  const [left, top] = [x(col + 0.5) - w / 2, y(row + 0.5) - h / 2];
  pen.lineWidth = 3;
  pen.strokeStyle = "rgb(0 0 0 / 60%)";
  pen.strokeRect(left, top, w, h);
  pen.lineWidth = 1.5;
  pen.strokeStyle = "#fff";
  pen.strokeRect(left, top, w, h);
}

/** @param {CanvasRenderingContext2D} pen @param {import("./gesture.js").Box} box */
function drawBox(pen, { x0, y0, x1, y1 }) {
  pen.fillStyle = ink("veil");
  pen.fillRect(x0, y0, x1 - x0, y1 - y0);
  pen.strokeStyle = ink("accent");
  pen.lineWidth = 1.5;
  pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
}
