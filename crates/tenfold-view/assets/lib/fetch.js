// Requests during rendering: the latest counts, earlier ones are aborted.

import { isAbandoned, words } from "./api.js";
import { useEffect, useState } from "./ui.js";

/** @template T @typedef {{answer: T | null, error: string | null, isBusy: boolean, key: string}} Answer */

/** Sends a request when the key changes; none for `null`. The last response stays until the next arrives.
 * @template T @param {string | null} key @param {(signal: AbortSignal) => Promise<T>} ask
 * @param {number} [wait] milliseconds in which a newer question may take its place
 * @returns {Answer<T>} */
export function useAnswer(key, ask, wait = 0) {
  const [state, setState] = useState(/** @type {Answer<T>} */ ({ answer: null, error: null, isBusy: false, key: "" }));
  useEffect(() => {
    if (key === null) return undefined;
    const control = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const answer = await ask(control.signal);
        if (!control.signal.aborted) setState({ answer, error: null, isBusy: false, key });
      } catch (error) {
        if (isAbandoned(error) || control.signal.aborted) return;
        setState({ answer: null, error: words(error), isBusy: false, key });
      }
    }, wait);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [key]);
  return { ...state, isBusy: key !== null && state.key !== key };
}

/** The size of an element, in pixels of CSS. @param {{current: HTMLElement | null}} ref */
export function useSize(ref) {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const watch = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((/** @type {{width: number, height: number}} */ old) =>
        old.width === width && old.height === height ? old : { width, height },
      );
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return size;
}
