// The wrong table less the right one.

import { difference } from "../kernel.js";
import { createTable, pair } from "../mistaken.js";
import { decimal, place, whole } from "../words.js";

export function create(figure, change) {
  const draw = createTable(figure, change);
  const drawing = figure.querySelector(".drawing");
  let last = { wrong: null, right: null, found: null }; // as the tables are large

  return (scene) => {
    const { right, wrong } = pair(scene);
    const fits = right.rows === wrong.rows && right.columns === wrong.columns;
    drawing.hidden = !fits;
    if (fits) {
      if (last.wrong !== wrong.values || last.right !== right.values) {
        last = { wrong: wrong.values, right: right.values, found: less(wrong.values, right.values) };
      }
      draw({ ...right, ...last.found });
    }
    figure.querySelector("figcaption").textContent = fits ? twin(right, last.found) : otherShape(right, wrong);
  };
}

function less(wrong, right) {
  const values = difference(wrong, right);
  const [lowest, highest] = [Math.min, Math.max].map((most) =>
    values.reduce((best, value) => (Number.isFinite(value) ? most(best, value) : best), 0),
  );
  return { values, lowest, highest };
}

function twin(scene, { values, lowest, highest }) {
  const { span, axes, columns, row, column } = scene;
  const differ = values.filter((value) => value !== 0).length;
  if (!differ) return `All ${whole(values.length)} numbers in sight are equal.`;
  const where = (at) => `${place(axes.row, span.start + Math.floor(at / columns))}, ${place(axes.column, at % columns)}`;
  const largest = -lowest > highest ? lowest : highest;
  const here = row * columns + column;
  return (
    `${whole(differ)} of ${whole(values.length)} numbers in sight differ, by most at ` +
    `${where(values.indexOf(largest))}: ${decimal(largest)}. Under the cursor, ${where(here)}: ${decimal(values[here])}.`
  );
}

function otherShape(right, wrong) {
  const size = ({ rows, columns }) => `${whole(rows)} by ${whole(columns)}`;
  return `The right table is ${size(right)}, the wrong one ${size(wrong)}: they cannot be compared cell by cell.`;
}
