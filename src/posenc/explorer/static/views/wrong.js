// The table with the mistake, in the colours of the right one.

import { createTable, pair } from "../mistaken.js";
import { decimal, whole } from "../words.js";

export function create(figure, change) {
  const draw = createTable(figure, change);
  return (scene) => {
    const { right, wrong, made } = pair(scene);
    draw(wrong);
    const twin = figure.querySelector("figcaption");
    if (!made) twin.textContent = "No mistake is made: all numbers are right.";
    else twin.textContent += ` ${compared(right, wrong)}`;
  };
}

/** The same cell in the right table. */
function compared(right, wrong) {
  if (right.rows !== wrong.rows || right.columns !== wrong.columns) {
    return `The right table has ${whole(right.rows)} rows and ${whole(right.columns)} columns.`;
  }
  return `Right would be ${decimal(right.values[right.row * right.columns + right.column])}.`;
}
