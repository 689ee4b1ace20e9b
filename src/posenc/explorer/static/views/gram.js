// The similarity of every two places, drawn as a table is.

import { isRounding, similarity } from "../similarity.js";
import { decimal, place, whole } from "../words.js";
import * as matrix from "./matrix.js";

const MEANINGS = {
  absolute: {
    dot: "the dot product of the two vectors",
    cosine: "the cosine of the angle between the two vectors",
  },
  rotary: {
    alike: "the score of a query and a key that are all ones, turned to their places",
    example:
      "the score of one query and one key, made up and everywhere the same, turned to their places",
  },
  bias: "the bias itself: what is added to the score",
  term:
    "what is added to the score in the example text, where queries and keys differ from place " +
    "to place",
};

export function create(figure, change) {
  figure.classList.add("matrix");
  const draw = matrix.create(figure, change);

  return (scene) => {
    const own = compared(scene);
    draw(own);
    figure.classList.toggle("waiting", scene.settings.guess === "draw");
    figure.querySelector("figcaption").textContent = twin(own, scene, similarity(scene));
  };
}

/** The scene whose table is the similarity of every two places. */
export function compared(scene) {
  const { name } = scene.axes.row;
  const paired = scene.recipe.family === "absolute" ? [name, name] : ["query", "key"];
  const axes = { row: { name: paired[0] }, column: { name: paired[1] } };
  const recipe = { ...scene.recipe, columns: [], frequencies: [] };
  const { values, rows, lowest, highest } = similarity(scene);
  const column = Math.min(scene.settings.column, rows - 1);
  return { ...scene, recipe, axes, values, rows, columns: rows, lowest, highest, column };
}

function twin({ axes, row, column, values, rows }, { recipe, settings, columns }, found) {
  if (settings.guess === "draw") {
    return `Hidden until the curve is revealed: ${whole(rows)} by ${whole(rows)} numbers.`;
  }
  const value = values[row * rows + column];
  const here = `${place(axes.row, row)} and ${place(axes.column, column)}`;
  const cell = `A cell is ${meaning(recipe, settings)}. For ${here} it is ${decimal(value)}.`;
  return `${cell} ${verdict(found, recipe, columns)}`;
}

function meaning({ family }, { measure, content }) {
  const found = MEANINGS[family];
  return found[measure] ?? found[content] ?? found;
}

function verdict(found, { places }, columns) {
  const { spread, low, high } = found.defect;
  const apart = places.length ? "as far apart along each axis" : "equally far apart";
  if (isRounding(found, spread, columns)) {
    const rest = spread ? `by at most ${decimal(spread)}, which is rounding` : "by 0";
    return `Places ${apart} differ ${rest}: the distance alone counts.`;
  }
  const give = ({ row, column, value }) => `${row} and ${column} give ${decimal(value)}`;
  const [most, least] = [give(high), give(low)];
  return `Defect: places ${apart} differ by up to ${decimal(spread)}, as ${least}, but ${most}.`;
}
