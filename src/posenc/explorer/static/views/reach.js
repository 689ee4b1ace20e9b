// The share of attention that falls within each distance of the query, with and without the bias.

import { html, line, plot, set, svg } from "../dom.js";
import { bias, softmax } from "../kernel.js";
import { distances, reachOf, scoring, within } from "../scoring.js";
import { place, whole } from "../words.js";
import { percent } from "./scores.js";

const [HALF, MOST] = [0.5, 0.9];

export function create(figure) {
  const [grid, cursor] = [svg("path", { class: "axis" }), svg("path", { class: "cursor" })];
  const [without, own] = [svg("path", { class: "faint" }), svg("path", { class: "curve" })];
  const drawing = plot([0, 0, 1, 1], grid, cursor, without, own);
  const scale = html("p", { class: "scale", "aria-hidden": "true" });
  scale.append(...["100%", "50%", "0%"].map((words) => html("span", {}, words)));
  const ends = html("p", { class: "heads", "aria-hidden": "true" });
  const names = html("p", { class: "names", "aria-hidden": "true" });
  names.append(html("span", {}, "with what is added"), html("span", { class: "plain" }, "without"));
  figure.querySelector(".drawing").append(drawing, scale, ends, names);

  return (scene) => {
    const { row, column } = scene;
    const table = scene.got.open ?? scene;
    const apart = distances(table, row);
    const found = scoring(scene);
    drawing.toggleAttribute("hidden", !apart);
    const words = figure.querySelector("figcaption");
    if (!apart) {
      words.textContent = "Keys are pooled here and stand on a grid of their own, so there is no distance to count.";
      return;
    }
    const farthest = Math.max(...apart.filter((_, key) => !found.hidden[key]), 1);
    const sums = { plain: within(found.plain, apart), weights: within(found.weights, apart) };
    set(drawing, { viewBox: `-0.5 -1.04 ${farthest + 1} 1.08` });
    set(grid, { d: [0, HALF, MOST, 1].map((level) => `M-0.5 ${-level}H${farthest + 0.5}`).join("") });
    set(cursor, { d: `M${apart[column]} -2V1` });
    set(without, { d: stairs(sums.plain) });
    set(own, { d: stairs(sums.weights) });
    ends.replaceChildren(...["the query itself", `${whole(farthest)} away`].map((word) => html("span", {}, word)));
    words.textContent = twin(scene, sums, apart[column]);
  };
}

/** A level for each distance, as there is nothing in between. */
function stairs(sums) {
  return line(sums.flatMap((sum, at) => [[at - 0.5, -sum], [at + 0.5, -sum]]));
}

function twin(scene, { plain, weights }, apart) {
  const { axes, span, row, recipe } = scene;
  const query = place(axes.row, span.start + row);
  if (!weights.at(-1)) return `${query} sees no key.`;
  const [half, most] = [HALF, MOST].map((share) => reachOf(weights, share));
  const [halfBefore, mostBefore] = [HALF, MOST].map((share) => whole(reachOf(plain, share)));
  const unit = recipe.places.length ? "step along the longer side" : "position";
  const near = half ? `within ${whole(half)} ${half === 1 ? unit : unit.replace(/(step|position)/, "$1s")}` : "on itself";
  return (
    `Half of the attention of ${query} falls ${near}, nine tenths within ${whole(most)}; with nothing ` +
    `added it would be within ${halfBefore} and ${mostBefore}. Within ${whole(apart)} fall ` +
    `${percent(weights[apart])}, as against ${percent(plain[apart])}.${everyHead(scene)}`
  );
}

/** How the reach of heads differs, where a recipe tells of all of them. */
function everyHead(scene) {
  const table = scene.got.open ?? scene;
  const { recipe } = table;
  if (!["bias", "gaps"].includes(recipe.kind)) return "";
  const { row } = scene;
  const { before, hidden } = scoring(scene);
  const apart = distances(table, row);
  const reaches = Array.from({ length: recipe.heads }, (_, head) => {
    const scores = before.map((score, key) => (hidden[key] ? -Infinity : score + bias(recipe, head, row, key)));
    return reachOf(within(softmax(scores), apart), HALF);
  });
  const [near, far] = [Math.min(...reaches), Math.max(...reaches)];
  if (near === far) return "";
  const named = (reach) => `${whole(reach)} (head ${reaches.indexOf(reach)})`;
  return ` From head to head half of it lies within ${named(near)} to ${named(far)}.`;
}
