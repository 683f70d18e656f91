// The values of a slice as text; only visible ones are requested.

import * as api from "../lib/api.js";
import { Group, Notice, Switch } from "./control.js";
import { Export } from "../panels/export.js";
import { FORMATS, formatted } from "../lib/number.js";
import { useAnswer, useSize } from "../lib/fetch.js";
import { Slice } from "../lib/slice.js";
import { html, useEffect, useRef, useState } from "../lib/ui.js";
import { dimName, extent as extentOf, sliceQuery } from "../lib/view.js";

/** @typedef {import("../lib/view.js").View} View */

const ROW = 26;
const HEAD = { width: 76, height: 28 };
/** Longest scroll distance: browsers stop at some tens of millions of pixels. */
const FARTHEST = 8_000_000;

/** Positions in a long list, also of one that is longer than browsers scroll. @param {number} count @param {number} size
 * @param {number} seen @param {number} scrolled */
export function visible(count, size, seen, scrolled) {
  const length = Math.min(count * size, FARTHEST);
  const fits = Math.ceil(seen / size) + 1;
  const hidden = Math.max(length - seen, 0);
  const share = hidden > 0 ? Math.min(scrolled / hidden, 1) : 0;
  const isExact = count * size <= FARTHEST;
  const first = isExact ? Math.floor(scrolled / size) : Math.round(share * Math.max(count - fits + 1, 0));
  const from = Math.max(0, Math.min(first, count - 1));
  // The scrolled-out part of the first one.
  const shift = isExact ? scrolled - from * size : 0;
  return { length, from, to: Math.min(from + fits, count), shift };
}

/** @param {import("../panels/heat.js").PanelProps} props */
export function Table({ view, facts, file, change }) {
  const extent = extentOf(view, facts);
  const [seen, setSeen] = useState({ r0: 0, r1: Math.min(extent[0], 1), c0: 0, c1: Math.min(extent[1], 1) });
  const isEmpty = extent[0] === 0 || extent[1] === 0;
  return html`<div class="bench">
    <div class="stage">
      ${isEmpty ? html`<${Notice} words="this tensor has no cells" />` : html`<${Sheet} view=${view} facts=${facts} extent=${extent} onSeen=${setSeen} />`}
    </div>
    <div class="knobs">
      <${Slice} view=${view} facts=${facts} change=${change} />
      <${Group} title="Numbers">
        <${Switch}
          label="Format"
          value=${view.format}
          options=${FORMATS}
          onChange=${(/** @type {View["format"]} */ format) => change({ format })}
        />
      <//>
      <${Export} view=${view} facts=${facts} file=${file} part=${seen} />
    </div>
  </div>`;
}

/** @param {{view: View, facts: import("../lib/api.js").TensorFacts, extent: [number, number],
 *   onSeen: (part: import("../lib/region.js").Region) => void}} props */
function Sheet({ view, facts, extent, onSeen }) {
  const ref = useRef(/** @type {HTMLDivElement | null} */ (null));
  const size = useSize(ref);
  const [scroll, setScroll] = useState({ top: 0, left: 0 });
  const width = columnWidth(view, facts);
  const down = visible(extent[0], ROW, Math.max(size.height - HEAD.height, 100), scroll.top);
  const right = visible(extent[1], width, Math.max(size.width - HEAD.width, 100), scroll.left);
  const part = { r0: down.from, r1: down.to, c0: right.from, c1: right.to };
  const query = { ...sliceQuery(view), ...part };
  const key = JSON.stringify(query);
  const { answer, error } = useAnswer(
    size.width ? key : null,
    async (signal) => ({
      part,
      slice: JSON.stringify(sliceQuery(view)),
      values: (await api.values(query, signal)).values,
    }),
    30,
  );
  useEffect(() => onSeen(part), [key]);
  const known = answer && answer.slice === JSON.stringify(sliceQuery(view)) ? answer : null;
  /** @param {number} row @param {number} col */
  const text = (row, col) => known?.values[row - known.part.r0]?.[col - known.part.c0];
  /** @param {number} from @param {number} to */
  const span = (from, to) => Array.from({ length: to - from }, (_, i) => from + i);
  const across = { width: `${width}px`, transform: `translateX(${-right.shift}px)` };
  const columns = span(part.c0, part.c1);
  return html`<div
    class="sheet"
    ref=${ref}
    tabindex="0"
    role="region"
    aria-label="Values"
    onScroll=${() => setScroll({ top: ref.current?.scrollTop ?? 0, left: ref.current?.scrollLeft ?? 0 })}
  >
    ${error ? html`<${Notice} words=${error} isError=${true} />` : null}
    <div class="sheet-all" style=${{ height: `${down.length + HEAD.height}px`, width: `${right.length + HEAD.width}px` }}>
      <div
        class="sheet-seen"
        role="table"
        aria-rowcount=${extent[0]}
        aria-colcount=${extent[1]}
        style=${{ width: `${size.width}px`, height: `${size.height}px` }}
      >
        <div class="sheet-row head" role="row">
          <span
            class="corner"
            role="columnheader"
            title=${`${dimName(facts, view.rows)} down, ${dimName(facts, view.cols)} across`}
          >↓ →</span>
          ${columns.map((col) => html`<span key=${col} role="columnheader" style=${across}>${view.cols === null ? "value" : col}</span>`)}
        </div>
        <div class="sheet-body" style=${{ transform: `translateY(${-down.shift}px)` }} role="rowgroup">
        ${span(part.r0, part.r1).map(
          (row) => html`<div class="sheet-row" role="row" key=${row} aria-rowindex=${row + 1}>
            <span class="index" role="rowheader">${view.rows === null ? "" : row}</span>
            ${columns.map((col) => {
              const exact = text(row, col);
              const shown = exact === undefined ? "·" : formatted(exact, view.format);
              return html`<span key=${col} role="cell" style=${across} class=${kind(exact)} title=${exact ?? ""}>
                ${shown}
              </span>`;
            })}
          </div>`,
        )}
        </div>
      </div>
    </div>
  </div>`;
}

/** Width of the longest number of a type. @param {View} view @param {import("../lib/api.js").TensorFacts} facts */
function columnWidth(view, facts) {
  const one = view.format === "exact" && facts.dtype.includes("64") ? 172 : 116;
  return facts.parts > 1 ? one * 2 : one;
}

/** @param {string | undefined} text */
function kind(text) {
  if (text === undefined) return "unknown";
  if (/nan/i.test(text)) return "nan";
  if (/inf/i.test(text)) return "inf";
  return /^-?0(\.0*)?$/.test(text) ? "zero" : "";
}
