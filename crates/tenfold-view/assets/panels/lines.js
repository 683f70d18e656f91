// Values along one dimension, at one or several positions in the others.

import * as api from "../lib/api.js";
import { Chart, CURVES } from "../widgets/chart.js";
import { Entry, Group, Notice, Select, Switch } from "../widgets/control.js";
import { Export } from "./export.js";
import { title } from "../lib/expression.js";
import { figure, saveCanvas } from "../widgets/figure.js";
import { positions } from "../lib/position.js";
import { useKeys } from "../widgets/keys.js";
import { PartOf } from "../lib/part.js";
import { useAnswer } from "../lib/fetch.js";
import { Cuts } from "../lib/slice.js";
import { html, useEffect, useRef, useState } from "../lib/ui.js";
import { dimName } from "../lib/view.js";

/** @typedef {import("../lib/view.js").View} View */
/** @typedef {import("../lib/api.js").TensorFacts} TensorFacts */

/** Most points of a line. */
const POINTS = 1200;

/** The dimension in which several lines differ: the last that is not the axis. @param {View} view
 * @param {TensorFacts} facts */
function across(view, facts) {
  const others = facts.dims
    .map((_, axis) => axis)
    .filter((axis) => axis !== view.along && (facts.dims[axis]?.size ?? 0) > 1);
  const rows = others.find((axis) => axis === view.rows);
  return rows ?? others.at(-1) ?? null;
}

/** @param {import("./heat.js").PanelProps} props */
export function Lines({ view, facts, file, change, isDark }) {
  const along = view.along;
  const size = along === null ? 0 : (facts.dims[along]?.size ?? 0);
  const other = across(view, facts);
  const picked = other === null ? [] : positions(view.several, facts.dims[other]?.size ?? 0);
  const places =
    picked.length && other !== null ? picked.map((i) => view.at.map((old, k) => (k === other ? i : old))) : [view.at];
  const [span, setSpan] = useState(/** @type {[number, number] | null} */ (null));
  useEffect(() => setSpan(null), [view.file, view.tensor, along]);
  const [from, to] = span && span[1] <= size ? span : [0, size];
  /** Cells between two positions, at least two. @param {number} first @param {number} last */
  const zoom = (first, last) => {
    const start = Math.max(0, Math.min(Math.floor(first), size - 2));
    const end = Math.min(size, Math.max(Math.ceil(last), start + 2));
    setSpan(start === 0 && end === size ? null : [start, end]);
  };
  useKeys(({ key, shiftKey }) => {
    const steps = {
      ArrowLeft: [-0.15, -0.15],
      ArrowRight: [0.15, 0.15],
      "+": [0.125, -0.125],
      "=": [0.125, -0.125],
      "-": [-0.17, 0.17],
    };
    const by = steps[/** @type {keyof typeof steps} */ (key)];
    if (key === "0") setSpan(null);
    else if (by && !shiftKey) zoom(from + Number(by[0]) * (to - from), to + Number(by[1]) * (to - from));
    else return false;
    return true;
  });
  const query = {
    file: view.file,
    tensor: view.tensor,
    axis: along,
    at: places.map((at) => at.join(",")),
    i0: from,
    i1: to,
    n: POINTS,
    part: view.part,
  };
  const { answer, error } = useAnswer(
    along === null || !size ? null : JSON.stringify(query),
    (signal) => api.line(query, signal),
    30,
  );
  const options = facts.dims.map((dim, axis) => ({
    value: String(axis),
    label: `${dimName(facts, axis)} (${dim.size})`,
  }));
  const label = `Values along ${dimName(facts, along)}`;
  // The line as a slice, for export.
  const line = { ...view, rows: along, cols: null };
  const part = { r0: from, r1: to || 1, c0: 0, c1: 1 };
  const stage = useRef(/** @type {HTMLDivElement | null} */ (null));
  const take = () => {
    const canvas = stage.current?.querySelector("canvas");
    if (canvas) saveCanvas(figure([canvas], title(line, facts, part, file), null), facts.name || file.name);
  };
  const names = picked.length && other !== null ? picked.map((i) => `${dimName(facts, other)} ${i}`) : ["value"];
  return html`<div class="bench">
    <div class="stage" ref=${stage}>
      ${error ? html`<${Notice} words=${error} isError=${true} />` : null}
      ${along === null ? html`<${Notice} words="a single number has no line: its value is in the table" />` : null}
      ${
        answer
          ? html`<${Curves}
            answer=${answer}
            names=${names}
            xLabel=${dimName(facts, along)}
            isLog=${view.scale === "log"}
            isDark=${isDark}
            label=${label}
            onZoom=${(/** @type {[number, number] | null} */ ends) => (ends ? zoom(ends[0], ends[1] + 1) : setSpan(null))}
          />`
          : null
      }
    </div>
    <div class="knobs">
      <${Group} title="Lines">
        <${Select}
          label="Along"
          value=${String(along)}
          options=${options}
          isDisabled=${options.length < 2}
          onChange=${(/** @type {string} */ axis) => change({ along: Number(axis) })}
        />
        <${Cuts} view=${view} facts=${facts} change=${change} but=${picked.length ? [along, other] : [along]} />
        ${
          other === null
            ? null
            : html`<${Entry}
                label=${`Several of ${dimName(facts, other)}`}
                value=${view.several}
                placeholder="0, 4, 10:13"
                onChange=${(/** @type {string} */ several) => change({ several })}
              />`
        }
        <${PartOf} view=${view} facts=${facts} change=${change} />
        <${Switch}
          label="Scale"
          value=${view.scale === "log" ? "log" : "linear"}
          options=${["linear", "log"]}
          onChange=${(/** @type {View["scale"]} */ scale) => change({ scale })}
        />
        ${answer && !answer.exact ? html`<p class="hint">each point stands for several cells, of which a sample was read</p>` : null}
      <//>
      <${Export} view=${line} facts=${facts} file=${file} part=${part} onPicture=${take} />
    </div>
  </div>`;
}

/** @param {{answer: import("../lib/api.js").LineAnswer, names: string[], xLabel: string, isLog: boolean, isDark: boolean,
 *   label: string, onZoom: (ends: [number, number] | null) => void}} props */
function Curves({ answer, names, xLabel, isLog, isDark, label, onZoom }) {
  const isReduced = answer.lines.some((line) => line.min.some((low, i) => low !== line.max[i]));
  /** Omits numbers without a logarithm. @param {(number | null)[]} ys */
  const shown = (ys) => (isLog ? ys.map((y) => (y !== null && y > 0 ? y : null)) : ys);
  /** @type {import("../widgets/chart.js").Curve[]} */
  const curves = [];
  /** @type {(number | null)[][]} */
  const ys = [];
  /** @type {[number, number, string][]} */
  const bands = [];
  answer.lines.forEach((line, i) => {
    const stroke = CURVES[i % CURVES.length] ?? "";
    curves.push({ label: names[i] ?? `line ${i}`, stroke });
    ys.push(shown(line.mean));
    if (!isReduced) return;
    curves.push({ label: "highest", stroke, isFaint: true }, { label: "lowest", stroke, isFaint: true });
    ys.push(shown(line.max), shown(line.min));
    bands.push([curves.length - 1, curves.length, `${stroke}33`]);
  });
  const missing = answer.lines.reduce((sum, line) => sum + line.nan.reduce((a, b) => a + b, 0), 0);
  return html`<${Chart}
      x=${answer.x}
      ys=${ys}
      curves=${curves}
      bands=${bands}
      xLabel=${xLabel}
      yLabel="value"
      isLog=${isLog}
      isDark=${isDark}
      label=${label}
      onZoom=${onZoom}
    />
    ${missing ? html`<p class="hint pad">${missing} NaN or infinite values leave gaps</p>` : null}`;
}
