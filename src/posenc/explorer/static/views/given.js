// The beginning of the table that is to be named.

import { table } from "../kernel.js";
import { said } from "../naming.js";
import { whole } from "../words.js";
import * as matrix from "./matrix.js";

const AXES = { row: { name: "row" }, column: { name: "column" } };
const SPAN = { start: 0 };

export function create(figure, change) {
  figure.classList.add("matrix");
  const draw = matrix.create(figure, ({ position, column }, how) => change({ row: position, across: column }, how));
  const drawing = figure.querySelector(".drawing");
  let last = { found: null, made: null };

  return (scene) => {
    const found = said(scene);
    drawing.hidden = !found;
    if (!found) {
      figure.querySelector("figcaption").textContent = "Nothing is given: 0 rows.";
      return;
    }
    if (last.found !== found) last = { found, made: table({ kind: "array", ...found.picture }, SPAN) };
    const { rows, columns } = last.made;
    const { row, across } = scene.settings;
    const cursor = { row: Math.min(row, rows - 1), column: Math.min(across, columns - 1) };
    draw({ ...scene, ...last.made, ...cursor, span: SPAN, axes: AXES, recipe: { columns: [] } });
    figure.querySelector("figcaption").textContent += rest(found.shape, rows, columns);
  };
}

/** What the picture leaves out. */
function rest(shape, rows, columns) {
  if (shape.reduce((product, size) => product * size, 1) === rows * columns) return "";
  return ` It is the beginning of ${shape.map(whole).join(" by ")} numbers.`;
}
