// Pointer and keyboard control of a picture: drag to pan, wheel to zoom, shift-drag for a box, keys for all of it.

import { moved, zoomed } from "../lib/region.js";
import { useEffect, useRef } from "../lib/ui.js";

/** @typedef {import("../lib/region.js").Region} Region */
/** @typedef {{x0: number, y0: number, x1: number, y1: number}} Box */
/** @typedef {{toCell: (x: number, y: number) => {row: number, col: number}, region: () => Region,
 *   setRegion: (region: Region | null) => void, setBox: (box: Box | null) => void,
 *   setCursor: (cell: {row: number, col: number} | null) => void, cursor: () => {row: number, col: number} | null,
 *   perPixel: () => {row: number, col: number}}} Hands */

/** A drag shorter than this many pixels is a click. */
const SHORTEST_BOX = 4;

/** Handles pointer and wheel events of a canvas. @param {{current: HTMLCanvasElement | null}} ref
 * @param {Hands} hands */
export function useGestures(ref, hands) {
  const latest = useRef(hands);
  latest.current = hands;
  useEffect(() => {
    const canvas = ref.current;
    if (!canvas) return undefined;
    return watch(canvas, latest);
  }, []);
}

/** @param {HTMLCanvasElement} canvas @param {{current: Hands}} latest */
function watch(canvas, latest) {
  /** @type {{x: number, y: number, region: Region, isBox: boolean} | null} */
  let drag = null;
  /** @type {Map<number, {x: number, y: number}>} */
  const fingers = new Map();
  const stop = new AbortController();
  /** @param {MouseEvent} event */
  const place = (event) => {
    const frame = canvas.getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top };
  };
  const apart = () => {
    const [a, b] = [...fingers.values()];
    return a && b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;
  };
  /** @type {(type: string, act: (event: any) => void, passive?: boolean) => void} */
  const on = (type, act, passive = true) => canvas.addEventListener(type, act, { signal: stop.signal, passive });

  on("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const at = place(event);
    fingers.set(event.pointerId, at);
    drag = { ...at, region: latest.current.region(), isBox: event.shiftKey };
  });
  on("pointermove", (/** @type {PointerEvent} */ event) => {
    const hands = latest.current;
    const at = place(event);
    const before = apart();
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, at);
    if (fingers.size === 2) {
      const { row, col } = hands.toCell(at.x, at.y);
      if (before && apart()) hands.setRegion(zoomed(hands.region(), before / apart(), row, col));
      drag = null;
    } else if (drag?.isBox) {
      hands.setBox({ x0: drag.x, y0: drag.y, x1: at.x, y1: at.y });
    } else if (drag) {
      const per = hands.perPixel();
      hands.setRegion(moved(drag.region, (drag.y - at.y) * per.row, (drag.x - at.x) * per.col));
    }
    const cell = hands.toCell(at.x, at.y);
    hands.setCursor({ row: Math.floor(cell.row), col: Math.floor(cell.col) });
  });
  /** @param {PointerEvent} event */
  const up = (event) => {
    const hands = latest.current;
    fingers.delete(event.pointerId);
    if (drag?.isBox) {
      const at = place(event);
      hands.setBox(null);
      if (Math.abs(at.x - drag.x) > SHORTEST_BOX && Math.abs(at.y - drag.y) > SHORTEST_BOX) {
        const a = hands.toCell(Math.min(drag.x, at.x), Math.min(drag.y, at.y));
        const b = hands.toCell(Math.max(drag.x, at.x), Math.max(drag.y, at.y));
        hands.setRegion({ r0: a.row, r1: b.row, c0: a.col, c1: b.col });
      }
    }
    drag = null;
  };
  on("pointerup", up);
  on("pointercancel", up);
  on("pointerleave", () => {
    if (!fingers.size) latest.current.setCursor(null);
  });
  on("dblclick", () => latest.current.setRegion(null));
  on(
    "wheel",
    (/** @type {WheelEvent} */ event) => {
      event.preventDefault();
      const hands = latest.current;
      const { x, y } = place(event);
      const { row, col } = hands.toCell(x, y);
      const lines = event.deltaMode === 1 ? 30 : 1;
      const factor = Math.exp(Math.max(-240, Math.min(240, event.deltaY * lines)) * 0.002);
      hands.setRegion(zoomed(hands.region(), factor, row, col));
    },
    false,
  );
  return () => stop.abort();
}

/** Distance of an arrow key, as a fraction of the visible region. */
const STRIDE = 0.15;

/** Handles a key; returns whether it was used. @param {KeyboardEvent} event @param {Hands} hands */
export function pressed(event, hands) {
  const region = hands.region();
  const [h, w] = [region.r1 - region.r0, region.c1 - region.c0];
  const [row, col] = [(region.r0 + region.r1) / 2, (region.c0 + region.c1) / 2];
  /** @type {Record<string, [number, number]>} */
  const arrows = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const arrow = arrows[event.key];
  if (arrow && event.shiftKey) {
    const from = hands.cursor() ?? { row: Math.floor(row), col: Math.floor(col) };
    hands.setCursor({ row: from.row + arrow[0], col: from.col + arrow[1] });
  } else if (arrow) hands.setRegion(moved(region, arrow[0] * STRIDE * h, arrow[1] * STRIDE * w));
  else if (event.key === "+" || event.key === "=") hands.setRegion(zoomed(region, 0.75, row, col));
  else if (event.key === "-") hands.setRegion(zoomed(region, 1 / 0.75, row, col));
  else if (event.key === "0") hands.setRegion(null);
  else return false;
  return true;
}
