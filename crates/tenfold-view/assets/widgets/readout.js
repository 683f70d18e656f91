// The exact value under the cursor.

import * as api from "../lib/api.js";
import { short } from "../lib/number.js";
import { useAnswer } from "../lib/fetch.js";
import { html, useRef } from "../lib/ui.js";

/** @typedef {import("./plane.js").Cell} Cell */

/** Side of the squares in which values are requested, so that a moving cursor causes few requests. */
const SIDE = 16;

/** The exact text of a cell; `null` while unknown. @param {import("../lib/api.js").Query} source
 * @param {[number, number]} extent @param {Cell | null} cell @returns {string | null} */
export function useValue(source, extent, cell) {
  const kept = useRef({ source: "", squares: /** @type {Map<string, string[][]>} */ (new Map()) });
  const name = JSON.stringify(source);
  if (kept.current.source !== name) kept.current = { source: name, squares: new Map() };
  const squares = kept.current.squares;
  const at = cell && { r0: Math.floor(cell.row / SIDE) * SIDE, c0: Math.floor(cell.col / SIDE) * SIDE };
  const key = at && `${at.r0},${at.c0}`;
  const known = key ? squares.get(key) : undefined;
  const question = useAnswer(
    key && !known ? `${name} ${key}` : null,
    async (signal) => {
      if (!at || !key) return null;
      const part = { ...at, r1: Math.min(at.r0 + SIDE, extent[0]), c1: Math.min(at.c0 + SIDE, extent[1]) };
      const { values } = await api.values({ ...source, ...part }, signal);
      squares.set(key, values);
      return values;
    },
    40,
  );
  const found = known ?? (key && question.key === `${name} ${key}` ? question.answer : null);
  return cell && at ? (found?.[cell.row - at.r0]?.[cell.col - at.c0] ?? null) : null;
}

/** The index of a cell in the whole tensor. @param {{rows: number | null, cols: number | null, at: number[]}} slice
 * @param {Cell} cell */
export function place({ rows, cols, at }, cell) {
  const indices = at.slice();
  if (rows !== null) indices[rows] = cell.row;
  if (cols !== null) indices[cols] = cell.col;
  return `[${indices.join(", ")}]`;
}

/** The status line below a picture. @param {{place: string | null, value: string | null,
 *   shot: import("./plane.js").Shot | null}} props */
export function Readout({ place, value, shot }) {
  return html`<div class="readout">
    <output class="where" aria-label="Cell under the cursor">${place ?? "move over the picture to read values"}</output>
    <output class="value" aria-label="Value under the cursor">${place ? (value ?? "…") : ""}</output>
    ${
      shot
        ? html`<span
            class="state"
            title="How the picture was made: whether every cell was read, and how long the tile took"
          >
          <i class=${shot.tile.exact ? "lamp" : "lamp sampled"}></i>
          ${shot.tile.exact ? "every cell" : "sampled"} · ${shot.tile.h} × ${shot.tile.w} px · ${short(shot.took, 3)} ms
        </span>`
        : null
    }
  </div>`;
}
