// The heat map of a slice.

import { Export } from "./export.js";
import { title } from "../lib/expression.js";
import { figure, saveCanvas } from "../widgets/figure.js";
import { Legend } from "../widgets/legend.js";
import { Palette, useRange } from "./palette.js";
import { Plane } from "../widgets/plane.js";
import { Readout, place, useValue } from "../widgets/readout.js";
import { seen } from "../lib/region.js";
import { Slice } from "../lib/slice.js";
import { html, useRef, useState } from "../lib/ui.js";
import { dimName, extent as extentOf, sliceQuery } from "../lib/view.js";

/** @typedef {import("../lib/view.js").View} View */
/** @typedef {{view: View, facts: import("../lib/api.js").TensorFacts, file: import("../lib/api.js").FileFacts,
 *   change: import("../lib/view.js").Change, isDark: boolean, files: import("../lib/api.js").FileFacts[],
 *   listings: Map<number, import("../lib/api.js").Listing>, load: (file: number) => void}} PanelProps */

/** @param {PanelProps} props */
export function Heat({ view, facts, file, change, isDark }) {
  const extent = extentOf(view, facts);
  const slice = sliceQuery(view);
  const source = { ...slice, part: view.part };
  const [cursor, setCursor] = useState(/** @type {import("../widgets/plane.js").Cell | null} */ (null));
  const [shot, setShot] = useState(/** @type {import("../widgets/plane.js").Shot | null} */ (null));
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const range = useRange(view, source, extent, shot);
  const value = useValue(slice, extent, cursor);
  const hasOverlay = facts.kind === "sparse" || facts.kind === "packed" || facts.symmetries.length > 0;
  const overlay = hasOverlay ? view.overlay : "none";
  const paint = { map: view.map, scale: view.scale, reduction: view.reduction, overlay, isDark, range };
  const shown = shot ? { low: shot.tile.lowest, high: shot.tile.highest } : { low: 0, high: 1 };
  const part = seen(view.region, extent);
  /** @type {[string, string]} */
  const names = [dimName(facts, view.rows), dimName(facts, view.cols)];
  const take = () => {
    if (!canvas.current) return;
    const all = { ...paint, range: range ?? shown };
    saveCanvas(
      figure([canvas.current], title(view, facts, part, file), overlay === "spy" ? null : all),
      facts.name || file.name,
    );
  };
  return html`<div class="bench">
    <div class="stage">
      <div class="view-row">
        <${Plane}
          source=${source}
          extent=${extent}
          names=${names}
          region=${view.region}
          onRegion=${(/** @type {View["region"]} */ region) => change({ region })}
          paint=${paint}
          cursor=${cursor}
          onCursor=${setCursor}
          label=${`Heat map of ${facts.name || file.name}, ${names.filter(Boolean).join(" by ")}`}
          hasKeys=${true}
          onShot=${setShot}
          canvas=${canvas}
        />
        <${Legend} paint=${{ ...paint, range: range ?? shown }} />
      </div>
      <${Readout} place=${cursor && place(view, cursor)} value=${value} shot=${shot} />
    </div>
    <div class="knobs">
      <${Slice} view=${view} facts=${facts} change=${change} />
      <${Palette} view=${view} facts=${facts} change=${change} range=${range} hasOverlay=${hasOverlay} />
      <${Export} view=${view} facts=${facts} file=${file} part=${part} onPicture=${take} />
    </div>
  </div>`;
}
