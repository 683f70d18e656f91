// Lines and bars, drawn by uPlot in the colors of the page.

import { useSize } from "../lib/fetch.js";
import { short } from "../lib/number.js";
import { ink } from "./theme.js";
import { html, useEffect, useRef } from "../lib/ui.js";
import uPlot from "../vendor/uplot/uPlot.esm.js";

/** @typedef {{label: string, stroke: string, fill?: string, isBars?: boolean, isFaint?: boolean}} Curve */
/** @typedef {{x: number[], ys: (number | null)[][], curves: Curve[], bands: [number, number, string][],
 *   xLabel: string, yLabel: string, isLog: boolean, label: string, isDark: boolean, names?: (x: number) => string,
 *   onZoom?: (span: [number, number] | null) => void}} Props */

/** Colors of lines, distinguishable also under color vision deficiency. */
export const CURVES = ["#2f73b5", "#d9822b", "#1f9e89", "#b0467e", "#7a8b2c", "#6a5acd", "#8a5a3c", "#8a949a"];

/** @param {string} label @returns {uPlot.Axis} */
function axis(label) {
  return {
    label,
    labelSize: 22,
    labelFont: "600 11px system-ui, sans-serif",
    font: "11px ui-monospace, monospace",
    stroke: ink("muted"),
    grid: { stroke: ink("line"), width: 1 },
    ticks: { stroke: ink("line-strong"), width: 1, size: 5 },
    values: (_, splits) => splits.map((x) => (x === null ? "" : short(x))),
    size: label && label.length ? 62 : 50,
  };
}

/** Range for counts: a count of one must be visible. @type {uPlot.Range.Function} */
const counted = (_, __, highest) => [0.6, Math.max(highest ?? 1, 1) * 1.5];

/** @param {Props} props @param {{width: number, height: number}} size
 * @param {{current: Props}} latest @returns {uPlot.Options} */
function options(props, size, latest) {
  const isCounts = props.curves.some((curve) => curve.isBars);
  return {
    ...size,
    padding: [14, 18, 0, 0],
    scales: {
      x: { time: false },
      y: props.isLog ? { distr: 3, log: 10, ...(isCounts ? { range: counted } : {}) } : {},
    },
    axes: [{ ...axis(props.xLabel), size: 40 }, axis(props.yLabel)],
    cursor: { points: { size: 7 }, drag: { x: true, y: false, setScale: !props.onZoom } },
    hooks: props.onZoom ? { setSelect: [(plot) => selected(plot, latest.current.onZoom)] } : {},
    legend: { live: true },
    bands: props.bands.map(([above, below, fill]) => ({ series: [above, below], fill })),
    series: [
      { label: props.xLabel || "x", value: (_, x) => (x === null ? "–" : (props.names?.(x) ?? String(x))) },
      ...props.curves.map((curve) => ({
        label: curve.label,
        class: curve.isFaint ? "faint" : "curve",
        stroke: curve.stroke,
        width: curve.isFaint ? 0 : 1.5,
        ...(curve.fill ? { fill: curve.fill } : {}),
        points: { show: !curve.isBars && !curve.isFaint && props.x.length < 80, size: 5 },
        value: (/** @type {uPlot} */ _, /** @type {number | null} */ y) => (y === null ? "–" : short(y, 7)),
        ...(curve.isBars && uPlot.paths.bars
          ? { paths: uPlot.paths.bars({ size: [1, Infinity], align: 1, gap: 1 }) }
          : {}),
      })),
    ],
  };
}

/** Zooms to the range that was dragged across. @param {uPlot} plot @param {Props["onZoom"]} onZoom */
function selected(plot, onZoom) {
  const { left, width } = plot.select;
  if (width < 4) return;
  onZoom?.([plot.posToVal(left, "x"), plot.posToVal(left + width, "x")]);
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

/** @param {Props} props */
export function Chart(props) {
  const frame = useRef(/** @type {HTMLDivElement | null} */ (null));
  const size = useSize(frame);
  const plot = useRef(/** @type {uPlot | null} */ (null));
  // A plot outlives the props it was created with.
  const latest = useRef(props);
  latest.current = props;
  const key = JSON.stringify([props.curves, props.isLog, props.isDark, props.xLabel, props.yLabel, props.bands]);
  useEffect(() => {
    const parent = frame.current;
    if (!parent || !size.width) return undefined;
    const made = new uPlot(options(props, inside(size), latest), [props.x, ...props.ys], parent);
    plot.current = made;
    return () => made.destroy();
  }, [key, size.width > 0]);
  useEffect(() => {
    if (size.width) plot.current?.setSize(inside(size));
  }, [size.width, size.height]);
  useEffect(() => plot.current?.setData([props.x, ...props.ys]), [props.x, props.ys]);
  return html`<div
    class="chart"
    ref=${frame}
    role="img"
    aria-label=${props.label}
    onDblClick=${() => props.onZoom?.(null)}
  ></div>`;
}

/** Space for the legend below. @param {{width: number, height: number}} size */
const inside = ({ width, height }) => ({ width, height: Math.max(height - 64, 120) });
