// The right table and the wrong one of the bug lab, whether the mistake is known or hidden.

import { table } from "./kernel.js";
import * as matrix from "./views/matrix.js";

const made = new WeakMap(); // by recipe of a riddle: its table

/** A figure that draws a table as the room Table does; several of them stand on one page. */
export function createTable(figure, change) {
  figure.classList.add("matrix");
  const draw = matrix.create(figure, change);
  const numbers = figure.querySelector("details .scroll");
  const title = figure.querySelector("h2").textContent;
  numbers.setAttribute("aria-label", `${numbers.getAttribute("aria-label")}: ${title}`);
  return draw;
}

/** Whether a riddle is open: a case is chosen, and no mistake beside it. */
export function isRiddle({ case: number, mistake }) {
  return number > 0 && !mistake;
}

/** The orders of the room: the wrong table and the right one; of a riddle the wrong one is an answer. */
export function mistakenOrders(main, { mistake = "", case: number, guess, told }) {
  const { start, count, head, spec } = main;
  if (mistake) {
    const { mistake: made, ...right } = main;
    return { main: { table: main }, right: { table: right }, answer: { answer: { spec, mistake, head } } };
  }
  const riddle = number ? { case: number, guess, told, start, count, head } : {};
  return { main: { table: main }, answer: { answer: { spec, ...riddle } } };
}

/** Both tables as scenes of one colour scale, and whether a mistake is `made` at all. */
export function pair(scene) {
  const { got } = scene;
  const hidden = got.answer.table;
  const right = got.right ?? got.main;
  // What the columns of a riddle hold is for the visitor to find out.
  const wrong = hidden ? { ...numbers(hidden), recipe: { ...got.main.recipe, columns: [] } } : got.main;
  const lowest = Math.min(right.lowest, wrong.lowest);
  const highest = Math.max(right.highest, wrong.highest);
  return {
    made: Boolean(hidden ?? got.right),
    right: placed({ ...scene, ...right, axes: right.recipe.axes, lowest, highest }),
    wrong: placed({ ...scene, ...wrong, axes: wrong.recipe.axes, lowest, highest }),
  };
}

function numbers(recipe) {
  if (!made.has(recipe)) made.set(recipe, table({ kind: "array", ...recipe }, {}));
  return made.get(recipe);
}

/** Its cursor moved into a table that may have another shape. */
function placed(scene) {
  const { rows, columns, row, column } = scene;
  return { ...scene, row: Math.min(row, rows - 1), column: Math.min(column, columns - 1) };
}
