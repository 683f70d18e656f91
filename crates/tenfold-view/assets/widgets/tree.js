// The tensor names of a file as a tree, and its visible lines.

import { naturalOrder } from "../lib/natural.js";

/** @typedef {{kind: "tensor", depth: number, label: string, tensor: number}
 *   | {kind: "group", depth: number, label: string, path: string, count: number, isOpen: boolean}} Line */
/** @typedef {{children: Map<string, Node>, leaves: {label: string, tensor: number}[], count: number}} Node */

/** Below this number of tensors, the tree is initially expanded. */
const FEW = 60;

/** @returns {Node} */
const node = () => ({ children: new Map(), leaves: [], count: 0 });

/** The separator of names: slashes if there are any, otherwise dots. @param {string[]} names */
function separator(names) {
  return names.some((name) => name.includes("/")) ? "/" : ".";
}

/** The names of one file. */
export class Names {
  /** @param {string[]} names */
  constructor(names) {
    this.names = names;
    this.order = naturalOrder(names);
    this.lower = names.map((name) => name.toLowerCase());
    this.separator = separator(names);
    this.root = this.#folded();
    /** @type {Set<string>} */
    this.open = new Set();
    if (names.length <= FEW) this.#unfold(this.root, "");
  }

  #folded() {
    const root = node();
    for (const tensor of this.order) {
      const parts = (this.names[tensor] ?? "").split(this.separator);
      const label = parts.pop() ?? "";
      let at = root;
      at.count += 1;
      for (const part of parts) {
        const next = at.children.get(part) ?? node();
        at.children.set(part, next);
        next.count += 1;
        at = next;
      }
      at.leaves.push({ label, tensor });
    }
    return root;
  }

  /** @param {Node} at @param {string} path */
  #unfold(at, path) {
    for (const [name, child] of at.children) {
      this.open.add(path + name);
      this.#unfold(child, `${path}${name}${this.separator}`);
    }
  }

  /** Opens the groups above a tensor. @param {number} tensor */
  reveal(tensor) {
    const parts = (this.names[tensor] ?? "").split(this.separator);
    for (let n = 1; n < parts.length; n += 1) this.open.add(parts.slice(0, n).join(this.separator));
  }

  /** The tensors whose names contain every word, in natural order. @param {string} search */
  matching(search) {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return this.order;
    return this.order.filter((i) => words.every((word) => (this.lower[i] ?? "").includes(word)));
  }

  /** The lines of the tree, or of a search result. @param {string} search @returns {Line[]} */
  lines(search) {
    if (search.trim()) {
      return this.matching(search).map((tensor) => ({
        kind: "tensor",
        depth: 0,
        label: this.names[tensor] ?? "",
        tensor,
      }));
    }
    /** @type {Line[]} */
    const lines = [];
    this.#collect(this.root, "", 0, lines);
    return lines;
  }

  /** Merges a group with its only subgroup. @param {string} name @param {Node} at */
  #joined(name, at) {
    let [label, end] = [name, at];
    while (!end.leaves.length && end.children.size === 1) {
      const [[inner, child] = ["", end]] = end.children;
      [label, end] = [`${label}${this.separator}${inner}`, child];
    }
    return { label, end };
  }

  /** @param {Node} at @param {string} path @param {number} depth @param {Line[]} lines */
  #collect(at, path, depth, lines) {
    for (const [name, child] of at.children) {
      const { label, end } = this.#joined(name, child);
      const inner = path + label;
      const only = end.leaves[0];
      if (end.count === 1 && only) {
        lines.push({ kind: "tensor", depth, label: `${label}${this.separator}${only.label}`, tensor: only.tensor });
        continue;
      }
      const isOpen = this.open.has(inner);
      lines.push({ kind: "group", depth, label: label + this.separator, path: inner, count: end.count, isOpen });
      if (isOpen) this.#collect(end, inner + this.separator, depth + 1, lines);
    }
    for (const { label, tensor } of at.leaves) lines.push({ kind: "tensor", depth, label, tensor });
  }
}
