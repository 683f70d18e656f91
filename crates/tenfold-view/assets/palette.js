// How numbers become colours: scale, map, range, and what is marked.

import * as api from "./api.js";
import { MAPS } from "./colour.js";
import { Entry, Group, Switch } from "./control.js";
import { short } from "./number.js";
import { REDUCTIONS } from "./painter.js";
import { PartOf } from "./part.js";
import { useAnswer } from "./question.js";
import { SCALES } from "./scale.js";
import { html, useRef } from "./ui.js";
import { MODES } from "./view.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./scale.js").Range} Range */

/** The range of the colours; `null` while it is not known. @param {View} view @param {import("./api.js").Query} source
 * @param {[number, number]} extent @returns {Range | null} */
export function useRange(view, source, [rows, cols]) {
  const last = useRef(/** @type {Range | null} */ (null));
  const tail = view.mode === "percentile" ? view.tail : 0;
  const isPhase = source.part === "phase";
  const isNeeded = rows > 0 && cols > 0 && !isPhase;
  const query = { ...source, r0: 0, r1: rows, c0: 0, c1: cols, low: tail, high: 100 - tail };
  const question = useAnswer(isNeeded ? JSON.stringify(query) : null, (signal) => api.range(query, signal), 30);
  const found = question.answer;
  if (found && found.low !== null && found.high !== null) last.current = { low: found.low, high: found.high };
  else if (found) last.current = { low: 0, high: 1 };
  if (isPhase) return { low: -Math.PI, high: Math.PI };
  if (view.mode !== "manual" || !last.current) return last.current;
  return { low: view.low ?? last.current.low, high: view.high ?? last.current.high };
}

/** @param {{view: View, facts: import("./api.js").TensorFacts, change: import("./view.js").Change,
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
