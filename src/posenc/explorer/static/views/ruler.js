// How many tokens each pair needs for one turn, before a rule and after it, on one ruler.

import { html, plot, set, svg } from "../dom.js";
import { create as createNumbers } from "../everypair.js";
import { brief, decades, keys, mark, pairAt, pairs, share, tokens } from "../tokens.js";
import { amount, decimal, whole } from "../words.js";

const ROWS = { before: [0.06, 0.3], after: [0.7, 0.94] };

export function create(figure) {
  const part = (name, tag = "path") => svg(tag, { class: name });
  const beyond = part("beyond", "rect");
  const [grid, edges, links] = [part("axis"), part("edges"), part("links")];
  const lengths = { trained: part("trained"), wanted: part("wanted") };
  const [known, fresh] = [part("known"), part("fresh")];
  const current = part("here");
  const drawing = plot([0, 0, 1, 1], beyond, grid, edges, links, ...Object.values(lengths), known, fresh, current);
  const row = (name) => html("p", { class: name, "aria-hidden": "true" });
  const [marks, ticks, limits] = [row("marks"), row("marks ticks"), row("marks limits")];
  const [first, second] = [html("span", {}), html("span", {})];
  const sides = html("p", { class: "sides", "aria-hidden": "true" }, first, second);
  const key = keys({
    known: "a pair",
    fresh: "a pair that comes to new angles in the wanted text",
    here: "the pair under the cursor",
    beyond: "no whole turn within the trained length",
  });
  const numbers = createNumbers();
  const parts = [marks, sides, drawing, ticks, limits, key, numbers.element];
  figure.querySelector(".drawing").append(...parts);

  return (scene) => {
    const { answer } = scene;
    const { plain, after, trained, wanted } = answer;
    const waves = { before: plain.wavelengths, after: after.wavelengths };
    const bounds = answer.edges.map(({ at }) => at);
    const all = [...waves.before, ...waves.after, ...bounds, trained, wanted].filter(Number.isFinite);
    const range = [Math.min(...all) / 1.3, Math.max(...all) * 1.3];
    const place = (value) => share(value, range).toFixed(5);
    const unseen = { before: new Set(plain.unseen), after: new Set(after.unseen) };
    const strokes = (chosen) => Object.entries(waves).flatMap(([name, each]) => {
      const [top, bottom] = ROWS[name];
      const drawn = each.filter((wave, at) => wave !== null && chosen(at, unseen[name]));
      return drawn.map((wave) => `M${place(wave)} ${top}V${bottom}`);
    }).join("");
    set(beyond, { x: place(trained), y: 0, width: 1 - place(trained), height: 1 });
    set(grid, { d: decades(range).map((power) => `M${place(power)} 0V1`).join("") });
    set(links, { d: waves.before.map((wave, pair) => link(wave, waves.after[pair], place)).join("") });
    set(known, { d: strokes((each, fresh) => !fresh.has(each)) });
    set(fresh, { d: strokes((each, fresh) => fresh.has(each)) });
    set(lengths.trained, { d: `M${place(trained)} 0V1` });
    set(lengths.wanted, { d: `M${place(wanted)} 0V1` });
    set(edges, { d: answer.edges.map((edge) => `M${place(edge.at)} 0V1`).join("") });
    const pair = pairAt(scene);
    set(current, { d: strokes((each) => each === pair) });
    marks.replaceChildren(
      mark(place(trained), `trained ${whole(trained)}`, "trained"),
      mark(place(wanted), `wanted ${whole(wanted)}`, "wanted"),
    );
    ticks.replaceChildren(...decades(range).map((power) => mark(place(power), brief(power))));
    limits.replaceChildren(...answer.edges.map((edge, side) => mark(place(edge.at), limit(edge, side))));
    limits.hidden = !answer.edges.length;
    first.textContent = "as trained";
    second.textContent = after.kind === "none" ? "no rule" : after.name;
    numbers.show(scene);
    figure.querySelector("figcaption").textContent = twin(answer, pair, scene.settings);
  };
}

function link(before, after, place) {
  return before && after ? `M${place(before)} ${ROWS.before[1]}L${place(after)} ${ROWS.after[0]}` : "";
}

/** A word at the edge of a band of pairs: fast ones are kept, slow ones slowed in full. */
function limit({ turns, pair }, slow) {
  if (turns === undefined) return slow ? `slowed in full from pair ${amount(pair)}` : `kept up to pair ${amount(pair)}`;
  const count = `${amount(turns)} turn${turns === 1 ? "" : "s"}`;
  return slow ? `slowed in full: at most ${count}` : `kept: at least ${count}`;
}

function twin(answer, pair, { mistake }) {
  const { plain, after, trained, wanted, edges } = answer;
  const count = answer.seen.length;
  const said = [`As trained, ${pairs(plain.unfinished, count)} never finish a turn within ${tokens(trained)}.`];
  if (after.kind === "none") {
    said.push("No rule is chosen, so nothing changes: choose one below by its name.");
  } else {
    said.push(`With ${after.name} it is ${pairs(after.unfinished, count)}, in a text of ${tokens(wanted)}.`);
  }
  const still = after.wavelengths.filter((wave) => wave === null).length;
  if (still) said.push(`${still} pairs do not turn at all.`);
  if (after.base && after.kind !== "none") said.push(`A base of ${amount(after.base)} alone would do the same.`);
  if (edges.length) {
    const [low, high] = edges;
    said.push(
      `Pairs that turn in up to ${amount(low.at)} tokens are kept, ` +
        `those from ${amount(high.at)} on are slowed in full.`,
    );
  }
  said.push(factor(after));
  said.push(`Pair ${pair} ${moved(plain.wavelengths[pair], after.wavelengths[pair])}.`);
  if (mistake) said.push("The mistake that is switched on is not in these pictures.");
  return said.filter(Boolean).join(" ");
}

function moved(before, after) {
  const start = `needs ${amount(before)} tokens for a turn`;
  if (before === after) return `${start}, before and after`;
  return after === null ? `${start} before, and stands still after` : `${start} before and ${amount(after)} after`;
}

function factor({ kind, table_factor: table, softmax_factor: softmax }) {
  if (kind === "none") return "";
  const inside = softmax === 1 ? "" : ` The softmax scale is multiplied by ${decimal(softmax)} besides.`;
  if (table === 1) return `The table factor (attention factor) is 1: cosine and sine keep their size.${inside}`;
  return (
    `The table factor (attention factor) ${decimal(table)} multiplies cosine and sine, so scores ` +
    `are multiplied by ${decimal(table * table)}.${inside}`
  );
}
