// Where a table comes from: a file, a pasted text, an example, or the settings of the page.

import { html } from "../dom.js";
import { create as createDrop } from "../dropped.js";
import { READER } from "../library.js";
import { ask, keep, said } from "../naming.js";
import { file, npy } from "../save.js";
import { whole } from "../words.js";

const OFFLINE =
  "Naming a table of your own needs the library, which these saved pages do not have: " +
  "install it with pip install 'posenc[explore]' and start posenc explore. The examples work here too.";

export function create(figure, change, page) {
  const drawing = figure.querySelector(".drawing");
  const status = html("p", { class: "status", role: "status" });
  const { options } = page.room.controls.find(({ name }) => name === "example");
  const examples = options.filter(({ value }) => value).map(({ value, label }) => {
    const button = html("button", { type: "button" }, label);
    button.onclick = () => {
      status.textContent = "";
      change({ example: value, shown: "no" }, { done: true });
    };
    return { value, button };
  });
  const own = html("button", { type: "button" }, "Name the table of these settings");
  const tries = html("fieldset", { class: "chips" }, html("legend", {}, "Guess one"), ...examples.map(({ button }) => button));
  let scene = null;
  let last = 0; // of several files the one that came last is named

  async function take(blob, name, source = "") {
    const turn = (last += 1);
    status.textContent = "Comparing with every known encoding and mistake …";
    try {
      const found = await ask(blob, name);
      if (turn !== last) return;
      status.textContent = "";
      keep(source ? { ...found, source } : found);
      change({ example: "", shown: "no" }, { done: true });
    } catch (error) {
      if (turn === last) status.textContent = error.message;
    }
  }
  own.onclick = () => {
    const wrong = scene.settings.mistake && `, with the mistake “${scene.settings.mistake}”`;
    take(file(npy(scene), "application/octet-stream"), "table.npy", `The table of ${scene.recipe.text}${wrong}`);
  };
  const complain = (message) => {
    status.textContent = message;
  };
  const drop = createDrop({
    accept: ".npy,.csv,.txt",
    label: ".npy or CSV file",
    placeholder: "0, 1, 0, 1\n0.84, 0.54, 0.01, 1",
    take,
    complain,
  });
  if (page.offline) drawing.append(html("p", {}, OFFLINE), tries);
  else drawing.append(drop, html("div", { class: "tries" }, tries, own), status);

  return (given) => {
    scene = given;
    for (const { value, button } of examples) button.setAttribute("aria-pressed", value === scene.settings.example);
    figure.querySelector("figcaption").textContent = twin(said(scene), page);
  };
}

function twin(found, page) {
  if (found) return `${found.source}: ${found.shape.map(whole).join(" by ")} numbers.`;
  if (page.offline) return "No table is chosen: 0 numbers to name.";
  return `No table is given yet. A file of up to 16 MiB goes to ${READER}.`;
}
