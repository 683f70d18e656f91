// A tensor train: its chain, its cores, and single cells.

import * as api from "../lib/api.js";
import { Chain } from "./chain.js";
import { Entry, Group, Slider, Switch } from "../widgets/control.js";
import { Legend } from "../widgets/legend.js";
import { short } from "../lib/number.js";
import { Palette, useRange } from "./palette.js";
import { Plane } from "../widgets/plane.js";
import { Readout, place as placeOf, useValue } from "../widgets/readout.js";
import { useAnswer } from "../lib/fetch.js";
import { html, useEffect, useState } from "../lib/ui.js";

/** @typedef {import("../lib/view.js").View} View */
/** @typedef {import("../lib/region.js").Region} Region */

const AXES = ["rank before", "dimension", "rank after"];

/** The axis along which a core is sliced, and those that are drawn. @type {Record<string, [number, number]>} */
const DRAWN = { 2: [0, 1], 1: [0, 2], 0: [1, 2] };

/** @param {import("./heat.js").PanelProps} props */
export function TrainPanel({ view, facts, change, isDark }) {
  const train = facts.train;
  const [cut, setCut] = useState("2");
  const [at, setAt] = useState(0);
  const [region, setRegion] = useState(/** @type {Region | null} */ (null));
  const [cursor, setCursor] = useState(/** @type {import("../widgets/plane.js").Cell | null} */ (null));
  const [shot, setShot] = useState(/** @type {import("../widgets/plane.js").Shot | null} */ (null));
  const core = view.core;
  const shape = [train?.ranks[core] ?? 1, train?.sizes[core] ?? 1, train?.ranks[core + 1] ?? 1];
  const place = Math.min(at, (shape[Number(cut)] ?? 1) - 1);
  useEffect(() => setRegion(null), [core, cut]);
  const [rows, cols] = DRAWN[cut] ?? [0, 1];
  const position = [0, 0, 0].map((_, axis) => (axis === Number(cut) ? place : 0));
  const source = { file: view.file, tensor: view.tensor, rows, cols, at: position.join(","), core, part: view.part };
  /** @type {[number, number]} */
  const extent = [shape[rows] ?? 1, shape[cols] ?? 1];
  const range = useRange(view, source, extent, shot);
  const value = useValue(source, extent, cursor);
  if (!train) return null;
  const paint = {
    map: view.map,
    scale: view.scale,
    reduction: view.reduction,
    overlay: /** @type {const} */ ("none"),
    isDark,
    range,
  };
  const label = `Core ${core}, ${AXES[rows]} by ${AXES[cols]}`;
  return html`<div class="bench">
    <div class="stage">
      <${Chain}
        sizes=${train.sizes}
        ranks=${train.ranks}
        chosen=${core}
        onChoose=${(/** @type {number} */ next) => change({ core: next })}
      />
      <div class="view-row">
        <${Plane}
          source=${source}
          extent=${extent}
          names=${[AXES[rows] ?? "", AXES[cols] ?? ""]}
          region=${region}
          onRegion=${setRegion}
          paint=${paint}
          cursor=${cursor}
          onCursor=${setCursor}
          label=${label}
          hasKeys=${true}
          onShot=${setShot}
        />
        <${Legend} paint=${{ ...paint, range: range ?? { low: 0, high: 1 } }} />
      </div>
      <${Readout}
        place=${cursor && `G${core} ${placeOf({ rows, cols, at: position }, cursor)}`}
        value=${value}
        shot=${shot}
      />
    </div>
    <div class="knobs">
      <${Group} title="Train">
        <dl class="stats">
          <div><dt>ranks</dt><dd>${train.ranks.join(" ")}</dd></div>
          <div><dt>compression</dt><dd>${short(train.ratio, 4)} times</dd></div>
          ${train.error === null ? null : html`<div><dt>error</dt><dd>${train.error}</dd></div>`}
        </dl>
      <//>
      <${Evaluate} view=${view} facts=${facts} change=${change} />
      <${Group} title=${`Core ${core}`}>
        <${Switch}
          label="Cut across"
          value=${cut}
          options=${AXES.map((name, axis) => ({ value: String(axis), label: name }))}
          onChange=${setCut}
        />
        <${Slider} label=${AXES[Number(cut)]} value=${place} size=${shape[Number(cut)] ?? 1} onChange=${setAt} />
      <//>
      <${Palette} view=${view} facts=${facts} change=${change} range=${range} hasOverlay=${false} />
    </div>
  </div>`;
}

/** A single cell, without expanding the train. @param {{view: View, facts: import("../lib/api.js").TensorFacts,
 *   change: import("../lib/view.js").Change}} props */
function Evaluate({ view, facts, change }) {
  const [r, c] = [view.rows, view.cols];
  const row = r === null ? 0 : (view.at[r] ?? 0);
  const col = c === null ? 0 : (view.at[c] ?? 0);
  const query = {
    file: view.file,
    tensor: view.tensor,
    rows: r,
    cols: c,
    at: view.at.join(","),
    r0: row,
    r1: row + 1,
    c0: col,
    c1: col + 1,
  };
  const isEmpty = facts.dims.some((dim) => dim.size === 0);
  const { answer, error } = useAnswer(
    isEmpty ? null : JSON.stringify(query),
    (signal) => api.values(query, signal),
    20,
  );
  /** @param {string} text */
  const set = (text) => {
    const wanted = text
      .split(/[\s,]+/)
      .filter(Boolean)
      .map(Number);
    if (wanted.length === facts.dims.length && wanted.every(Number.isInteger)) change({ at: wanted });
  };
  return html`<${Group} title="Evaluate a cell">
    <${Entry} label="Indices" value=${view.at.join(", ")} onChange=${set} />
    <p class="evaluated">
      <output aria-label="Value of the cell">${error ?? answer?.values[0]?.[0] ?? "…"}</output>
    </p>
  <//>`;
}
