// Color settings: scale, map, range and overlays.

import * as api from "../lib/api.js";
import { MAPS } from "../lib/colormap.js";
import { Entry, Group, Switch } from "../widgets/control.js";
import { short } from "../lib/number.js";
import { REDUCTIONS } from "../widgets/painter.js";
import { PartOf } from "../lib/part.js";
import { useAnswer } from "../lib/fetch.js";
import { SCALES } from "../lib/scale.js";
import { html, useRef } from "../lib/ui.js";
import { MODES } from "../lib/view.js";

/** @typedef {import("../lib/view.js").View} View */
/** @typedef {import("../lib/scale.js").Range} Range */

/** The range between two ends, or 0 to 1. @param {number | null} low @param {number | null} high @returns {Range} */
const between = (low, high) =>
  low !== null && high !== null && Number.isFinite(low) && Number.isFinite(high) ? { low, high } : { low: 0, high: 1 };

/** The color range; `null` while unknown. A pending picture goes first, and one of the
 * whole slice contains the range.
 * @param {View} view @param {import("../lib/api.js").Query} source @param {[number, number]} extent
 * @param {import("../widgets/plane.js").Shot | null} [shot] @returns {Range | null} */
export function useRange(view, source, [rows, cols], shot) {
  const kept = useRef({ key: "", range: /** @type {Range | null} */ (null) });
  const tail = view.mode === "percentile" ? view.tail : 0;
  const isPhase = source.part === "phase";
  const query = { ...source, r0: 0, r1: rows, c0: 0, c1: cols, low: tail, high: 100 - tail };
  const key = JSON.stringify(query);
  const isDrawn = shot !== undefined && shot?.source === JSON.stringify(source);
  if (isDrawn && tail === 0 && shot.part.r1 - shot.part.r0 === rows && shot.part.c1 - shot.part.c0 === cols) {
    kept.current = { key, range: between(shot.tile.lowest, shot.tile.highest) };
  }
  const isNeeded = rows > 0 && cols > 0 && !isPhase && kept.current.key !== key && (shot === undefined || isDrawn);
  const question = useAnswer(isNeeded ? key : null, (signal) => api.range(query, signal), 30);
  if (question.answer && question.key === key && kept.current.key !== key) {
    kept.current = { key, range: between(question.answer.low, question.answer.high) };
  }
  const range = kept.current.range;
  if (isPhase) return { low: -Math.PI, high: Math.PI };
  if (view.mode !== "manual" || !range) return range;
  return { low: view.low ?? range.low, high: view.high ?? range.high };
}

/** @param {{view: View, facts: import("../lib/api.js").TensorFacts, change: import("../lib/view.js").Change,
 *   range: Range | null, hasOverlay: boolean}} props */
export function Palette({ view, facts, change, range, hasOverlay }) {
  /** @param {"low" | "high"} end */
  const set = (end) => (/** @type {string} */ text) =>
    change({ [end]: text.trim() === "" || !Number.isFinite(Number(text)) ? null : Number(text) });
  return html`<${Group} title="Colour">
    <${PartOf} view=${view} facts=${facts} change=${change} />
    <${Switch}
      label="Scale"
      value=${view.scale}
      options=${SCALES}
      onChange=${(/** @type {View["scale"]} */ scale) => change({ scale })}
    />
    <${Switch}
      label="Map"
      value=${view.map}
      options=${MAPS}
      onChange=${(/** @type {View["map"]} */ map) => change({ map })}
    />
    <${Switch}
      label="Range"
      value=${view.mode}
      options=${MODES}
      onChange=${(/** @type {View["mode"]} */ mode) =>
        change(mode === "manual" ? { mode, low: range?.low ?? null, high: range?.high ?? null } : { mode })}
    />
    ${
      view.mode === "percentile"
        ? html`<${Switch}
            label="Leave out"
            value=${String(view.tail)}
            options=${["0.1", "1", "2", "5"].map((value) => ({ value, label: `${value} %` }))}
            onChange=${(/** @type {string} */ tail) => change({ tail: Number(tail) })}
          />`
        : null
    }
    ${
      view.mode === "manual"
        ? html`<div class="pair">
          <${Entry}
            label="Lowest"
            value=${view.low === null ? "" : String(view.low)}
            placeholder=${range ? short(range.low) : ""}
            onChange=${set("low")}
          />
          <${Entry}
            label="Highest"
            value=${view.high === null ? "" : String(view.high)}
            placeholder=${range ? short(range.high) : ""}
            onChange=${set("high")}
          />
        </div>`
        : null
    }
    <${Switch}
      label="Each pixel shows the"
      value=${view.reduction}
      options=${REDUCTIONS}
      onChange=${(/** @type {View["reduction"]} */ reduction) => change({ reduction })}
    />
    ${
      hasOverlay
        ? html`<${Switch}
          label="Stored cells"
          value=${view.overlay}
          options=${[
            { value: "none", label: "as others" },
            { value: "stored", label: "stand out" },
            { value: "spy", label: "spy plot" },
          ]}
          onChange=${(/** @type {View["overlay"]} */ overlay) => change({ overlay })}
        />`
        : null
    }
  <//>`;
}
