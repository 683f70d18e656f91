// The displayed part as an expression for other programs.

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./region.js").Region} Region */
/** @typedef {import("./api.js").TensorFacts} TensorFacts */

/** The indices of the part in NumPy notation. @param {View} view @param {TensorFacts} facts @param {Region} part */
export function indices(view, facts, part) {
  /** @param {number} from @param {number} to @param {number | null} size */
  const range = (from, to, size) => (from === 0 && to === size ? ":" : `${from}:${to}`);
  return facts.dims
    .map((dim, axis) => {
      if (axis === view.rows) return range(part.r0, part.r1, dim.size);
      if (axis === view.cols) return range(part.c0, part.c1, dim.size);
      return String(view.at[axis] ?? 0);
    })
    .join(", ");
}

/** The title of a picture. @param {View} view @param {TensorFacts} facts @param {Region} part
 * @param {import("./api.js").FileFacts} file */
export function title(view, facts, part, file) {
  const inner = facts.dims.length ? `[${indices(view, facts, part)}]` : "";
  return `${file.name}${facts.name ? `:${facts.name}` : ""}${inner}`;
}

/** Whether rows follow columns, so that the picture is the transposed array. @param {View} view */
const isTransposed = (view) => view.rows !== null && view.cols !== null && view.rows > view.cols;

/** `null` if only a part of a file was opened: its indices are not those of the file.
 * @param {View} view @param {TensorFacts} facts @param {Region} part @param {import("./api.js").FileFacts} file */
export function numpy(view, facts, part, file) {
  if (file.path === null) return null;
  const name = JSON.stringify(file.path);
  const inner = facts.dims.length ? `[${indices(view, facts, part)}]` : "[()]";
  const turned = isTransposed(view) ? ".T" : "";
  if (file.format === "npy") return `np.load(${name}, mmap_mode="r")${inner}${turned}`;
  if (file.format === "npz") return `np.load(${name})[${JSON.stringify(facts.name)}]${inner}${turned}`;
  const tensor = file.tensors === 1 ? ".only" : `[${JSON.stringify(facts.name)}]`;
  return `tenfold.open(${name})${tensor}${inner}${turned}`;
}

/** @param {View} view @param {TensorFacts} facts @param {Region} part */
export function show(view, facts, part) {
  return facts.dims.length ? `${facts.show} --slice '${indices(view, facts, part)}'` : facts.show;
}
