// Natural sort order of names: layer.2 before layer.10.

/** A sort key for natural order. @param {string} name */
export function naturalKey(name) {
  return name.toLowerCase().replace(/\d+/g, (digits) => digits.replace(/^0+(?=\d)/, "").padStart(18, "0"));
}

/** Positions of names in natural order. @param {string[]} names @returns {number[]} */
export function naturalOrder(names) {
  const keys = names.map(naturalKey);
  const order = names.map((_, i) => i);
  return order.sort((a, b) => {
    const [x, y] = [keys[a] ?? "", keys[b] ?? ""];
    if (x !== y) return x < y ? -1 : 1;
    return a - b;
  });
}
