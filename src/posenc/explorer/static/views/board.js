// What each encoding keeps, as the library computes it: one row a property, one column an encoding.

import { chosen } from "../comparing.js";
import { html } from "../dom.js";
import { fill } from "../ledger.js";

const MARKS = { true: ["✓", "yes"], false: ["✗", "no"], null: ["–", "cannot be told"] };

export function create(figure, change, page) {
  const frame = html("div", { class: "scroll", role: "region", tabindex: 0, "aria-labelledby": "board-title" });
  figure.querySelector(".drawing").append(frame);
  figure.querySelector("figcaption").textContent = "Computing.";
  let drawn = "";

  return ({ got, settings }) => {
    const kinds = chosen(settings, page);
    const boards = kinds.map((kind) => got[`board-${kind}`]);
    const state = JSON.stringify([kinds, settings.encoding, boards]);
    if (state === drawn) return;
    drawn = state;
    const rows = boards.find(Boolean).properties.map(({ name, asked }, at) => ({
      head: [html("b", {}, name), html("span", {}, asked)],
      cells: boards.map((board) => (board ? answer(board.properties[at]) : ["Computing."])),
    }));
    fill(frame, { names: kinds.map((kind) => page.methods[kind].name), here: kinds.indexOf(settings.encoding), rows });
    figure.querySelector("figcaption").textContent = twin(kinds, boards, page, settings);
  };
}

function answer({ holds, sentence }) {
  const [mark, word] = MARKS[holds];
  const verdict = html("span", { class: `verdict ${word.split(" ")[0]}` }, html("span", { "aria-hidden": "true" }, `${mark} `), word);
  return [verdict, html("span", {}, sentence)];
}

function twin(kinds, boards, page, { encoding, mistake }) {
  const words = kinds.flatMap((kind, at) => {
    if (!boards[at]) return [];
    const { properties } = boards[at];
    const kept = properties.filter(({ holds }) => holds);
    const told = properties.filter(({ holds }) => holds !== null);
    const { name } = page.methods[kind];
    if (!told.length) return [`${name} cannot be told from positions alone`];
    return [`${name} keeps ${kept.length} of the ${told.length} that can be told`];
  });
  if (!mistake) return `${words.join("; ")}.`;
  const right = `the board shows ${page.methods[encoding].name} as it should be`;
  return `${words.join("; ")}. The mistake that is switched on is not looked at: ${right}.`;
}
