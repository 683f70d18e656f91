// Histogram of values, and their statistics.

import * as api from "../lib/api.js";
import { Chart } from "../widgets/chart.js";
import { figure, harmless, save, saveCanvas } from "../widgets/figure.js";
import { Group, Notice, Switch } from "../widgets/control.js";
import { grouped, percent, short } from "../lib/number.js";
import { PartOf } from "../lib/part.js";
import { useAnswer } from "../lib/fetch.js";
import { cells } from "../lib/region.js";
import { ink } from "../widgets/theme.js";
import { html, useRef, useState } from "../lib/ui.js";
import { extent as extentOf, sliceQuery } from "../lib/view.js";

/** @typedef {import("../lib/view.js").View} View */

/** @param {import("./heat.js").PanelProps} props */
export function Histogram({ view, facts, file, change, isDark }) {
  const [scope, setScope] = useState("tensor");
  const extent = extentOf(view, facts);
  const part = view.region ? cells(view.region, ...extent) : { r0: 0, r1: extent[0], c0: 0, c1: extent[1] };
  const where = scope === "tensor" ? { file: view.file, tensor: view.tensor } : { ...sliceQuery(view), ...part };
  const query = { ...where, part: view.part, bins: view.bins };
  const { answer, error, isBusy } = useAnswer(JSON.stringify(query), (signal) => api.histogram(query, signal), 20);
  const stage = useRef(/** @type {HTMLDivElement | null} */ (null));
  const name = facts.name || file.name;
  const take = () => {
    const canvas = stage.current?.querySelector("canvas");
    if (canvas) saveCanvas(figure([canvas], name, null), `${name}-histogram`);
  };
  return html`<div class="bench">
    <div class="stage" ref=${stage}>
      ${error ? html`<${Notice} words=${error} isError=${true} />` : null}
      ${!answer && isBusy ? html`<${Notice} words="counting…" />` : null}
      ${answer ? html`<${Bars} answer=${answer} isLog=${view.counts === "log"} isDark=${isDark} />` : null}
    </div>
    <div class="knobs">
      <${Group} title="Histogram">
        <${Switch} label="Of" value=${scope} options=${[
          { value: "tensor", label: "the tensor" },
          { value: "slice", label: "the slice on the screen" },
        ]} onChange=${setScope} />
        <${Switch}
          label="Counts"
          value=${view.counts}
          options=${["log", "linear"]}
          onChange=${(/** @type {View["counts"]} */ counts) => change({ counts })}
        />
        <${Switch}
          label="Bins"
          value=${String(view.bins)}
          options=${["32", "64", "128", "256"]}
          onChange=${(/** @type {string} */ bins) => change({ bins: Number(bins) })}
        />
        <${PartOf} view=${view} facts=${facts} change=${change} />
      <//>
      ${answer ? html`<${Statistics} answer=${answer} />` : null}
      ${
        answer
          ? html`<${Group} title="Export">
            <div class="buttons">
              <button type="button" onClick=${() => save(counts(answer), harmless(`${name}-histogram`, "csv"))}>csv</button>
              <button type="button" onClick=${take}>png</button>
            </div>
          <//>`
          : null
      }
    </div>
  </div>`;
}

/** The bars as a table. @param {import("../lib/api.js").HistogramAnswer} answer */
function counts({ low, high, counts: all }) {
  const from = Number(low);
  const width = (Number(high) - from) / (all.length || 1);
  const lines = all.map((n, i) => `${from + i * width},${from + (i + 1) * width},${n}`);
  return new Blob([["from,to,cells", ...lines, ""].join("\n")], { type: "text/csv" });
}

/** @param {{answer: import("../lib/api.js").HistogramAnswer, isLog: boolean, isDark: boolean}} props */
function Bars({ answer, isLog, isDark }) {
  const { low, high, counts } = answer;
  if (low === null || high === null || !counts.length)
    return html`<${Notice} words="there are no finite values to count" />`;
  const width = (Number(high) - Number(low)) / counts.length || 1;
  // One more edge, so that the last bar has a width.
  const x = [...counts.map((_, i) => Number(low) + i * width), Number(low) + counts.length * width];
  const y = [...counts.map((n) => (isLog && n === 0 ? null : n)), null];
  const stroke = ink("accent");
  return html`<${Chart}
    x=${x}
    ys=${[y]}
    curves=${[{ label: "cells", stroke, fill: `${stroke}99`, isBars: true }]}
    bands=${[]}
    xLabel="value"
    yLabel="cells"
    isLog=${isLog}
    isDark=${isDark}
    names=${(/** @type {number} */ from) => `${short(from)} … ${short(from + width)}`}
    label=${`Histogram of ${grouped(answer.read)} cells`}
  />`;
}

/** @param {{answer: import("../lib/api.js").HistogramAnswer}} props */
function Statistics({ answer }) {
  const { stats } = answer;
  /** @param {string} key */
  const spelled = (key) => {
    const value = stats[key];
    if (value === null || value === undefined) return "–";
    if (key === "density") return percent(Number(value));
    if (["count", "nan", "inf", "zeros"].includes(key)) return grouped(Number(value));
    return typeof value === "number" ? short(value, 8) : value;
  };
  const names = {
    count: "cells",
    nan: "NaN",
    inf: "infinite",
    zeros: "zeros",
    density: "density",
    min: "lowest",
    max: "highest",
    mean: "mean",
    std: "deviation",
  };
  return html`<${Group} title="Statistics">
    <dl class="stats">
      ${Object.entries(names).map(([key, name]) => {
        const isOdd = (key === "nan" || key === "inf") && Number(stats[key]) > 0;
        return html`<div key=${key} class=${isOdd ? "odd" : ""}><dt>${name}</dt><dd>${spelled(key)}</dd></div>`;
      })}
    </dl>
    <p class="hint">${answer.exact ? "of every cell" : `of a sample of ${grouped(answer.read)} cells`}</p>
  <//>`;
}
