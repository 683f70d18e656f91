// Requests to the server, and its responses.

import { parseTile } from "./tile.js";

/** @typedef {{name: string, path: string | null, format: string, version: string | null, bytes: number, tensors: number,
 *   metadata: Record<string, unknown>, notes: string[]}} FileFacts */
/** @typedef {"dense" | "packed" | "sparse" | "labelled" | "train" | "opaque"} Kind */
/** @typedef {{names: string[], dtypes: string[], shapes: (number | null)[][], kinds: Kind[]}} Listing */
/** @typedef {{name: string | null, size: number | null, labels: number | null}} Dim */
/** @typedef {{sizes: number[], ranks: number[], ratio: number, error: string | null}} Train */
/** @typedef {{name: string, dtype: string, complex: boolean, parts: number, kind: Kind, dims: Dim[],
 *   cells: number | null, stored: number, nbytes: number, density: number | null, order: string | null,
 *   symmetries: string[], metadata: Record<string, unknown>, checksum: string, train: Train | null,
 *   show: string, drawable: boolean, why: string | null}} TensorFacts */
/** @typedef {{x: number[], lines: {min: (number | null)[], max: (number | null)[], mean: (number | null)[],
 *   nan: number[]}[], exact: boolean}} LineAnswer */
/** @typedef {Record<string, number | string | null>} Stats */
/** @typedef {{low: number | null, high: number | null, counts: number[], stats: Stats, exact: boolean,
 *   read: number}} HistogramAnswer */
/** @typedef {{total: number, matching: number, dims: (string | null)[],
 *   blocks: {labels: (string | number)[], values: string[], count: number}[]}} BlocksAnswer */
/** @typedef {{compared: number, different: number, cells: {at: number[], a: string, b: string,
 *   difference: string}[], max_abs: number | string | null, exact: boolean}} WorstAnswer */

/** @typedef {Record<string, string | number | (string | number)[] | null | undefined>} Query */

/** The URL of a request; a list repeats a parameter. @param {string} path @param {Query} query */
export function address(path, query) {
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value === null || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) words.append(key, String(one));
  }
  return `/api/${path}?${words}`;
}

/** @param {string} path @param {Query} query @param {AbortSignal} [signal] */
async function ask(path, query, signal) {
  const answer = await fetch(address(path, query), signal ? { signal } : {}).catch((why) => {
    // Browsers' messages about an unreachable server do not help the user.
    throw why instanceof TypeError ? new Error("the viewer does not answer: it may have been ended") : why;
  });
  if (answer.ok) return answer;
  let why = `the server answers ${answer.status}`;
  try {
    const said = await answer.json();
    if (typeof said.error === "string") why = said.error;
  } catch {
    // Not JSON: only the status is known.
  }
  throw new Error(why);
}

/** @template T @param {string} path @param {Query} query @param {AbortSignal} [signal] @returns {Promise<T>} */
async function json(path, query, signal) {
  return (await ask(path, query, signal)).json();
}

/** @returns {Promise<{files: FileFacts[]}>} */
export const files = () => json("files", {});

/** @param {number} file @returns {Promise<Listing>} */
export const tensors = (file) => json("tensors", { file });

/** @param {number} file @param {number} tensor @returns {Promise<TensorFacts>} */
export const tensor = (file, tensor) => json("tensor", { file, tensor });

/** @param {Query} query @param {AbortSignal} [signal] */
export async function tile(query, signal) {
  return parseTile(await (await ask("tile", query, signal)).arrayBuffer());
}

/** @param {Query} query @param {AbortSignal} [signal]
 * @returns {Promise<{low: number | null, high: number | null, exact: boolean}>} */
export const range = (query, signal) => json("range", query, signal);

/** @param {Query} query @param {AbortSignal} [signal] @returns {Promise<{values: string[][]}>} */
export const values = (query, signal) => json("values", query, signal);

/** @param {Query} query @param {AbortSignal} [signal] @returns {Promise<LineAnswer>} */
export const line = (query, signal) => json("line", query, signal);

/** @param {Query} query @param {AbortSignal} [signal] @returns {Promise<HistogramAnswer>} */
export const histogram = (query, signal) => json("histogram", query, signal);

/** @param {Query} query @param {AbortSignal} [signal] @returns {Promise<BlocksAnswer>} */
export const blocks = (query, signal) => json("blocks", query, signal);

/** @param {Query} query @param {AbortSignal} [signal] @returns {Promise<WorstAnswer>} */
export const worst = (query, signal) => json("worst", query, signal);

/** Whether a request was aborted, which is not an error. @param {unknown} error */
export function isAbandoned(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

/** @param {unknown} error */
export const words = (error) => (error instanceof Error ? error.message : String(error));
