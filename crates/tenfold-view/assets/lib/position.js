// Parsing of positions in a dimension.

/** Most positions. */
const MOST = 8;

/** The positions in a text such as `0, 4, 10:13`. @param {string} text @param {number} size */
export function positions(text, size) {
  const found = text.split(/[\s,]+/).flatMap((word) => {
    const ends = /^(\d+)(?::(\d+))?$/.exec(word);
    if (!ends) return [];
    const from = Number(ends[1]);
    const to = ends[2] === undefined ? from + 1 : Math.min(Number(ends[2]), from + MOST);
    return Array.from({ length: Math.max(to - from, 0) }, (_, i) => from + i);
  });
  return [...new Set(found)].filter((i) => i < size).slice(0, MOST);
}
