// How many positions and rows each format leaves, as a table with a bar for each count.

import { html } from "../dom.js";
import { whole } from "../words.js";

export function create(figure, change, page) {
  const region = { role: "region", tabindex: 0, "aria-labelledby": "lost-title" };
  const frame = html("div", { class: "scroll counts", ...region });
  figure.querySelector(".drawing").append(frame);
  figure.querySelector("figcaption").textContent = "Computing.";
  let drawn = null;

  return ({ answer, settings }) => {
    if (drawn?.answer !== answer || drawn.format !== settings.format) {
      drawn = { answer, format: settings.format };
      frame.replaceChildren(tableOf(answer, settings.format));
    }
    figure.querySelector("figcaption").textContent = twin(answer, settings, page);
  };
}

function tableOf({ counted, among, rows }, format) {
  const what = rows === "pair" ? "cosines and sines" : "biases";
  const columns = ["First number lost", "Positions left", `Different rows of ${what}, positions cast first`, "The same, the result cast"];
  const heads = ["Format", ...columns].map((name) => html("th", { scope: "col" }, name));
  const body = Object.entries(counted).map(([name, { lost, positions, first, end }]) =>
    html("tr", { class: name === format ? "here" : "" },
      html("th", { scope: "row" }, name),
      html("td", { "data-name": columns[0] }, lost),
      ...[positions, first, end].map((count, at) => html("td", { "data-name": columns[at + 1] }, whole(count), bar(count / among))),
    ),
  );
  return html("table", {}, html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...body));
}

function bar(share) {
  const inner = html("span", {});
  inner.style.width = `${100 * share}%`;
  return html("span", { class: "bar", "aria-hidden": "true" }, inner);
}

function twin({ counted, among, rows }, { format, encoding, mistake }, page) {
  const { lost, positions, first, end } = counted[format];
  const best = counted.float64.end;
  const what = rows === "pair" ? "cosines and sines" : "biases";
  const words = [
    `In ${format} the first whole number lost is ${lost}, and of the first ${whole(among)} ` +
      `positions ${whole(positions)} are left.`,
    `Their ${what} make ${whole(first)} different rows if positions are cast first, ` +
      `${whole(end)} if the result is cast, and ${whole(best)} if nothing is.`,
  ];
  const { name } = page.methods[encoding];
  if (mistake) words.push(`The mistake that is switched on is left out: this is ${name} as it should be.`);
  return words.join(" ");
}
