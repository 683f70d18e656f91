// Two tensors of one shape and their difference.

import * as api from "../lib/api.js";
import { Notice } from "../widgets/control.js";
import { Export } from "./export.js";
import { figure, saveCanvas } from "../widgets/figure.js";
import { Legend } from "../widgets/legend.js";
import { grouped, short } from "../lib/number.js";
import { Palette, useRange } from "./palette.js";
import { Plane } from "../widgets/plane.js";
import { Other, useOther } from "./other.js";
import { place, useValue } from "../widgets/readout.js";
import { useAnswer } from "../lib/fetch.js";
import { seen } from "../lib/region.js";
import { Slice } from "../lib/slice.js";
import { html, useRef, useState } from "../lib/ui.js";
import { dimName, extent as extentOf, sliceQuery } from "../lib/view.js";

/** @typedef {import("../lib/view.js").View} View */
/** @typedef {import("../widgets/plane.js").Cell} Cell */

/** Number of largest differences listed, and of cells shown around a chosen one. */
const WORST = 20;
const AROUND = 12;

/** @param {import("./heat.js").PanelProps} props */
export function Compare(props) {
  const other = useOther(props);
  const part = seen(props.view.region, extentOf(props.view, props.facts));
  return html`<div class="bench">
    <div class="stage">
      ${other ? html`<${Triple} ...${props} other=${other} />` : html`<${Notice} words="choose a tensor of the same shape to compare with" />`}
    </div>
    <div class="knobs">
      <${Other} ...${props} other=${other} />
      <${Slice} view=${props.view} facts=${props.facts} change=${props.change} />
      ${other ? html`<${Colours} ...${props} other=${other} />` : null}
      ${other ? html`<${Export} view=${props.view} facts=${props.facts} file=${props.file} part=${part} other=${other} />` : null}
    </div>
  </div>`;
}

/** @typedef {import("./heat.js").PanelProps & {other: [number, number]}} PairProps */

/** The common color range of both pictures: the wider of the two. @param {PairProps} props */
function useRanges({ view, facts, other }) {
  const extent = extentOf(view, facts);
  const slice = sliceQuery(view);
  const first = { ...slice, part: view.part };
  const second = { ...first, file: other[0], tensor: other[1] };
  const difference = { ...first, with: other.join(",") };
  const [a, b] = [useRange(view, first, extent), useRange(view, second, extent)];
  const apart = useRange({ ...view, mode: view.mode === "manual" ? "full" : view.mode }, difference, extent);
  const shared = a && b ? { low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) } : (a ?? b);
  return { extent, first, second, difference, shared, apart };
}

/** @param {PairProps} props */
function Colours(props) {
  const { shared } = useRanges(props);
  return html`<${Palette} view=${props.view} facts=${props.facts} change=${props.change} range=${shared} hasOverlay=${false} />`;
}

/** @param {PairProps} props */
function Triple(props) {
  const { view, facts, change, isDark, other, files, file } = props;
  const { extent, first, second, difference, shared, apart } = useRanges(props);
  const [cursor, setCursor] = useState(/** @type {Cell | null} */ (null));
  const slice = sliceQuery(view);
  const values = [
    useValue(slice, extent, cursor),
    useValue({ ...slice, file: other[0], tensor: other[1] }, extent, cursor),
  ];
  const paint = {
    map: view.map,
    scale: view.scale,
    reduction: view.reduction,
    overlay: /** @type {const} */ ("none"),
    isDark,
  };
  const plain = { ...paint, range: shared };
  const signed = {
    ...paint,
    map: /** @type {const} */ ("blue-red"),
    scale: view.scale === "log" ? /** @type {const} */ ("symlog") : view.scale,
    range: apart,
  };
  const names = [file.name, files[other[0]]?.name ?? "", ""];
  const nothing = { low: 0, high: 1 };
  const gap = values.every((text) => text !== null) ? short(Number(values[0]) - Number(values[1]), 7) : null;
  const pictures = [
    { title: "A", source: first, paint: plain, value: values[0] },
    { title: "B", source: second, paint: plain, value: values[1] },
    { title: "A − B", source: difference, paint: signed, value: gap === "NaN" ? "–" : gap },
  ];
  const all = useRef(/** @type {HTMLDivElement | null} */ (null));
  const take = () => {
    const canvases = [...(all.current?.querySelectorAll("figure canvas") ?? [])].filter(
      (one) => one instanceof HTMLCanvasElement,
    );
    saveCanvas(
      figure(canvases, `A ${names[0]}, B ${names[1]}, A − B${facts.name ? `: ${facts.name}` : ""}`, null),
      `${facts.name || file.name}-compared`,
    );
  };
  return html`<div class="triple" ref=${all}>
      ${pictures.map(
        (one, i) => html`<figure key=${one.title}>
          <figcaption>
            <b>${one.title}</b><span>${names[i]}</span>
            <output aria-label=${`Value of ${one.title}`}>${cursor ? (one.value ?? "…") : ""}</output>
          </figcaption>
          <${Plane}
            source=${one.source}
            extent=${extent}
            names=${[dimName(facts, view.rows), dimName(facts, view.cols)]}
            region=${view.region}
            onRegion=${(/** @type {View["region"]} */ region) => change({ region })}
            paint=${one.paint}
            cursor=${cursor}
            onCursor=${setCursor}
            label=${`${one.title}, heat map`}
            hasKeys=${i === 0}
          />
        </figure>`,
      )}
      <div class="legends">
        <${Legend} paint=${{ ...plain, range: shared ?? nothing }} />
        <${Legend} paint=${{ ...signed, range: apart ?? nothing }} />
      </div>
    </div>
    <div class="readout">
      <output
        class="where"
        aria-label="Cell under the cursor"
      >${cursor ? place(view, cursor) : "the cursor is the same in all three"}</output>
      <button type="button" class="link end" onClick=${take}>save as png</button>
    </div>
    <${Worst}
      view=${view}
      other=${other}
      onGo=${(/** @type {number[]} */ at) => {
        const [row, col] = [
          view.rows === null ? 0 : (at[view.rows] ?? 0),
          view.cols === null ? 0 : (at[view.cols] ?? 0),
        ];
        const isLarge = Math.max(...extent) > AROUND * 4;
        const region = { r0: row - AROUND, r1: row + AROUND + 1, c0: col - AROUND, c1: col + AROUND + 1 };
        change({ at, region: isLarge ? region : null });
        setCursor({ row, col });
      }}
    />`;
}

/** @param {{view: View, other: [number, number], onGo: (at: number[]) => void}} props */
function Worst({ view, other, onGo }) {
  const query = { file: view.file, tensor: view.tensor, with: other.join(","), n: WORST };
  const { answer, error } = useAnswer(JSON.stringify(query), (signal) => api.worst(query, signal));
  if (error) return html`<${Notice} words=${error} isError=${true} />`;
  if (!answer) return html`<${Notice} words="comparing…" />`;
  return html`<section class="worst" aria-label="Worst cells">
    <h3>
      ${answer.different === 0 ? "No cell differs" : `${grouped(answer.different)} of ${grouped(answer.compared)} cells differ`}
      ${answer.max_abs === null ? null : html`<span>by at most ${typeof answer.max_abs === "number" ? short(answer.max_abs, 6) : answer.max_abs}</span>`}
      ${answer.exact ? null : html`<span>of a sample</span>`}
    </h3>
    ${
      answer.cells.length
        ? html`<div class="scroll">
          <table class="blocks">
            <thead><tr><th scope="col">cell</th><th scope="col">A</th><th scope="col">B</th><th scope="col">|A − B|</th></tr></thead>
            <tbody>
              ${answer.cells.map(
                (cell) => html`<tr key=${cell.at.join()}>
                  <td>
                    <button
                      type="button"
                      class="link"
                      aria-label=${`Go to cell ${cell.at.join(", ")}`}
                      onClick=${() => onGo(cell.at)}
                    >
                      [${cell.at.join(", ")}]
                    </button>
                  </td>
                  <td class="values">${cell.a}</td><td class="values">${cell.b}</td><td class="values">${cell.difference}</td>
                </tr>`,
              )}
            </tbody>
          </table>
        </div>`
        : null
    }
  </section>`;
}
