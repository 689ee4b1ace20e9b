// What is added, against the distance from query to key.

import { dots, html, line, plot, set, svg } from "../dom.js";
import { bias } from "../kernel.js";
import { amount, decimal, tick, whole } from "../words.js";

const NAMED = 6; // steps of a staircase that are named

export function create(figure) {
  const stairs = svg("path", { class: "stairs" });
  const all = svg("path", { class: "faint" });
  const current = svg("path", { class: "curve" });
  const points = svg("path", { class: "points" });
  const [axis, cursor, dot] = ["axis", "cursor", "dot"].map((name) => svg("path", { class: name }));
  const drawing = plot([0, 0, 1, 1], stairs, axis, cursor, all, current, points, dot);
  const scale = html("p", { class: "scale", "aria-hidden": "true" });
  const ends = html("p", { class: "heads", "aria-hidden": "true" });
  figure.querySelector(".drawing").append(drawing, scale, ends);

  return (scene) => {
    const drawn = (DRAWN[scene.recipe.kind] ?? cuts)(scene);
    const { own, others, here, names } = drawn;
    const [low, high] = [Math.min(scene.lowest, 0), Math.max(scene.highest, 0)];
    const height = high - low || 1;
    const across = [own, ...others].flatMap((curve) => curve.map(([x]) => x));
    const [left, right] = [Math.min(...across, 0), Math.max(...across, 1)];
    const [top, bottom] = [high + 0.05 * height, low - 0.05 * height];
    set(drawing, { viewBox: `${left - 0.5} ${-top} ${right - left + 1} ${top - bottom}` });
    const path = drawn.runs ? steps : line;
    const up = (curve) => curve.map(([x, y]) => [x, -y]);
    set(axis, { d: `M${left - 0.5} 0H${right + 0.5}` });
    set(all, { d: others.map((curve) => path(up(curve))).join("") });
    set(current, { d: drawn.scattered ? "" : path(up(own)) });
    set(points, { d: drawn.scattered ? dots(up(own)) : "" });
    set(stairs, { d: shared(drawn.runs ?? [], top, bottom) });
    set(cursor, { d: `M${here[0]} ${-2 * top - height}V${height - 2 * bottom}` });
    set(dot, { d: Number.isFinite(here[1]) ? dots(up([here])) : "" });
    scale.replaceChildren(...[high, low].filter((end, at) => end || !at).map((end) => html("span", {}, tick(end))));
    ends.replaceChildren(...names(left, right).map((name) => html("span", {}, name)));
    figure.querySelector("figcaption").textContent = twin(scene, drawn);
  };
}

const DRAWN = { bias: byHead, gaps: byHead };

/** Every head, where the distance alone decides. */
function byHead({ recipe, settings, rows, row: query, column: key }) {
  const head = Math.min(settings.head, recipe.heads - 1);
  const side = Number.isFinite(bias(recipe, head, 0, 1)) ? 1 - rows : 0;
  const span = Array.from({ length: rows - side }, (_, step) => side + step);
  const curve = (h) => span.map((gap) => [gap, bias(recipe, h, gap, 0)]);
  const own = curve(head);
  const others = Array.from({ length: recipe.heads }, (_, h) => h).filter((h) => h !== head).map(curve);
  const runs = runsOf(own);
  const stepped = recipe.kind === "gaps" && runs.some(([first, last]) => last > first);
  return {
    own,
    others,
    here: [query - key, bias(recipe, head, query, key)],
    names: apart,
    words: `head ${head}`,
    runs: stepped ? runs : null,
  };
}

/** The cut through the table at the query under the cursor, and at some others. */
function cuts(scene) {
  const { recipe, rows, columns, values, row, column } = scene;
  const head = recipe.heads > 1 ? `head ${Math.min(scene.settings.head, recipe.heads - 1)}` : "that";
  const cut = (query, across) =>
    Array.from({ length: columns }, (_, key) => [across(query, key), values[query * columns + key]])
      .filter(([, y]) => Number.isFinite(y));
  const here = (across) => [across(row, column), values[row * columns + column]];
  if (recipe.places.length) {
    const across = rows === columns ? (query, key) => distance(recipe.places, query, key) : (_, key) => key;
    const names = rows === columns ? cells : (_, right) => ["key 0", `key ${whole(right)}`];
    return { own: cut(row, across), others: [], here: here(across), names, words: head, scattered: true };
  }
  const across = (query, key) => query - key;
  const last = rows - 1;
  const samples = [...new Set([0, 0.25, 0.5, 0.75, 1].map((part) => Math.round(part * last)))];
  const others = samples.filter((query) => query !== row).map((query) => cut(query, across));
  const own = cut(row, across);
  const drawn = { own, others, here: here(across), names: apart, words: head };
  return { ...drawn, samples, spread: spread([own, ...others]) };
}

function distance(places, query, key) {
  return Math.hypot(...places[query].map((at, axis) => at - places[key][axis]));
}

/** The largest difference of two curves at the same distance. */
function spread(curves) {
  const found = new Map();
  for (const [x, y] of curves.flat()) {
    const [low, high] = found.get(x) ?? [y, y];
    found.set(x, [Math.min(low, y), Math.max(high, y)]);
  }
  return Math.max(0, ...[...found.values()].map(([low, high]) => high - low));
}

/** First and last distance of each run of equal numbers. */
function runsOf(curve) {
  const runs = [];
  curve.forEach(([x, y], at) => {
    if (at && y === curve[at - 1][1]) runs.at(-1)[1] = x;
    else runs.push([x, x]);
  });
  return runs;
}

/** A level for each distance. */
function steps(points) {
  return line(points.flatMap(([x, y]) => [[x - 0.5, y], [x + 0.5, y]]));
}

/** Every second run, shaded from top to bottom. */
function shared(runs, top, bottom) {
  const column = ([first, last]) => `M${first - 0.5} ${-top}H${last + 0.5}V${-bottom}H${first - 0.5}z`;
  return runs.filter((_, at) => at % 2).map(column).join("");
}

function apart(left, right) {
  return [left < 0 ? `key ${whole(-left)} ahead` : "same position", `key ${whole(right)} behind`];
}

function cells(_, right) {
  return ["the query's own cell", `${amount(right)} cells away`];
}

function twin({ row, column, span, recipe }, { here, words, runs, spread: off, samples }) {
  const [gap, value] = here;
  const far = recipe.places.length
    ? ""
    : ` stand ${whole(Math.abs(gap))} apart${gap < 0 ? ", the key ahead" : ""}`;
  const found = Number.isFinite(value) ? decimal(value) : "masked";
  const there = `Query ${whole(span.start + row)} and key ${whole(column)}${far}: ${words} gives ${found}.`;
  return [there, runs && buckets(runs), samples && moved(samples, off)].filter(Boolean).join(" ");
}

/** Distances that share one number, behind the query. */
function buckets(runs) {
  const behind = runs.filter(([, last]) => last >= 0).map(([first, last]) => [Math.max(first, 0), last]);
  const wide = behind.filter(([first, last]) => last > first);
  if (!wide.length) return "";
  const named = wide.slice(0, NAMED).map(([first, last]) => `${first} to ${last}`).join(", ");
  const more = wide.length > NAMED ? `, and ${whole(wide.length - NAMED)} more runs` : "";
  const counts = `${whole(behind.length)} numbers serve ${whole(behind.at(-1)[1] + 1)} distances`;
  return `A staircase: behind the query ${counts}; one each is shared by ${named}${more}.`;
}

/** Whether other queries have the same curve. */
function moved(samples, off) {
  const others = `Faint are queries ${samples.map(whole).join(", ")}`;
  return off < 1e-5
    ? `${others}: all on one curve, so the distance alone counts.`
    : `${others}: at one distance they differ by up to ${decimal(off)}, so the distance alone does not decide.`;
}
