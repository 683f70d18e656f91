// Global keyboard shortcuts, inactive while text is being typed.

import { useEffect, useRef } from "../lib/ui.js";

/** Elements with arrow keys of their own. */
const ARROWS = "[role=tablist], [role=radiogroup], .tree, .sheet, .scroll, .chain, select";

/** Whether a key belongs to the focused element. @param {EventTarget | null} target @param {string} key */
function isTaken(target, key) {
  if (!(target instanceof HTMLElement || target instanceof SVGElement)) return false;
  if (target.closest("dialog")) return true;
  if (target instanceof HTMLInputElement) return target.type !== "range" || key.startsWith("Arrow");
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return key.startsWith("Arrow") && target.closest(ARROWS) !== null;
}

/** Calls back for each key; a used key does not propagate. @param {(event: KeyboardEvent) => boolean} act */
export function useKeys(act) {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const listen = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event.target, event.key)) return;
      if (latest.current(event)) event.preventDefault();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
}
