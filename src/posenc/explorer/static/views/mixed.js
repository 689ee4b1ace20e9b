// Scores by distance when weights of one pairing run with another.

import { permutation, score } from "../turning.js";
import { decimal, whole } from "../words.js";
import { twoCurves } from "./chart.js";

export function create(figure) {
  const show = twoCurves(figure, { curve: "its own pairing", dashed: "the other pairing" });
  let known = {};

  return (scene) => {
    const { got, recipe, rows, settings } = scene;
    figure.hidden = !got.other;
    if (figure.hidden) return;
    if (known.got !== got) known = { got, ...scores(got.other, recipe.partners, rows) };
    const { own, mixed, moved } = known;
    const words = ["the same token", `${whole(rows - 1)} apart`];
    show({ curve: own, other: mixed, cursor: settings.gap, dot: 0, words });
    const right = recipe.mistake ? " The mistake that is switched on is not in this picture." : "";
    figure.querySelector("figcaption").textContent = twin(own, mixed, moved, settings.gap) + right;
  };
}

/**
 * By distance: the right scores, those of the other pairing, and those once features moved too. The
 * cosines and sines of both pairings are the same; the table of the other one is always right.
 */
function scores(other, partners, rows) {
  const others = other.recipe.partners;
  const example = carried(other.recipe.example, partners, others);
  const steps = Array.from({ length: rows }, (_, at) => at);
  return {
    own: steps.map((at) => score(other, at, 0, partners)),
    mixed: steps.map((at) => score(other, at, 0, others)),
    moved: steps.map((at) => score(other, at, 0, others, example)),
  };
}

/** The query and the key as the other pairing would have them: each feature moved to its place. */
function carried({ query, key }, partners, others) {
  const to = permutation(partners, others, query.length);
  const move = (vector) => {
    const result = [...vector];
    to.forEach((place, feature) => {
      result[place] = vector[feature];
    });
    return result;
  };
  return { query: move(query), key: move(key) };
}

function twin(own, mixed, moved, gap) {
  const off = (one, other) => one.map((value, at) => Math.abs(value - other[at]));
  const wrong = off(own, mixed);
  const worst = wrong.indexOf(Math.max(...wrong));
  const at = Math.min(gap, own.length - 1);
  return (
    `A token with itself scores ${decimal(own[0])} in both, so the first token is right. ` +
    `${whole(at)} apart the score should be ${decimal(own[at])} and is ${decimal(mixed[at])}; it ` +
    `is most wrong ${whole(worst)} apart, by ${decimal(wrong[worst])}. With the features moved ` +
    `along the threads the two differ by at most ${decimal(Math.max(...off(own, moved)))}.`
  );
}
