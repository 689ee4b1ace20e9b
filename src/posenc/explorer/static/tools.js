// What can be done with what is in sight: link or cell, Python, files, and a comparison with the library.

import { given, inNotebook } from "./address.js";
import { csv, download, file, npy, offerPicture } from "./save.js";
import { libraryTable } from "./source.js";
import { encoding } from "./state.js";
import { whole } from "./words.js";

/** Connects the buttons of the panel, and gives each figure a way to be saved. */
export function connect({ page, current, settled, remember, complain, reset }) {
  const press = (id, action) => {
    document.getElementById(id).onclick = action;
  };
  if (inNotebook) {
    document.getElementById("copy").textContent = "Copy as a cell";
    document.querySelector("#classroom summary").textContent = "A cell for a class";
  }
  press("reset", reset);
  press("close", () => complain(""));
  const actions = {
    copy: () => {
      remember();
      return inNotebook ? copied(cell(page, current()), "The cell") : copied(location.href, "The link");
    },
    python: () => copied(python(page, current()), "The Python"),
    check: () => compared(tableOf(current())),
    csv: () => download(file(csv(tableOf(current())), "text/csv"), "table.csv"),
    npy: () => download(file(npy(tableOf(current())), "application/octet-stream"), "table.npy"),
  };
  for (const [id, action] of Object.entries(actions)) {
    press(id, () => act(action).catch(({ message }) => complain(message)));
  }
  async function act(action) {
    await settled();
    const words = await action();
    if (words) complain(words);
  }
  for (const figure of document.querySelectorAll("figure[data-view]")) offerPicture(figure, complain);
}

/** The Python that makes the numbers in sight. */
export function python({ room, methods }, { recipe, settings, orders }) {
  const plain = methods[settings.encoding].tags.includes("plain") && !settings.mistake;
  const lines = (plain && room.python[recipe.family]) || room.python.any;
  const known = { ...settings, ...orders.main?.table, encoding: recipe?.python };
  known.mistake = settings.mistake ? JSON.stringify(settings.mistake) : "None";
  return lines.replace(/\{(\w+)\}/g, (_, name) => known[name]);
}

/** The Python that shows the room as it is in a notebook. */
function cell(page, { recipe, settings }) {
  const text = recipe?.text ?? JSON.stringify(encoding(settings, page));
  const chosen = given();
  return [
    "import posenc\n",
    `widget = posenc.widget(${JSON.stringify(text)}, room=${JSON.stringify(page.room.name)})`,
    ...(chosen ? [`widget.settings = ${JSON.stringify(chosen)}`] : []),
    "widget",
  ].join("\n");
}

function tableOf(shown) {
  if (!shown.values) throw new Error("This room has no single table to take along.");
  return shown;
}

/** Puts a text into the clipboard, or shows it where that is forbidden; says which. */
async function copied(text, name) {
  const box = document.getElementById("shown");
  try {
    await navigator.clipboard.writeText(text);
    box.parentElement.hidden = true;
    return `${name} is in the clipboard.`;
  } catch {
    box.parentElement.hidden = false;
    Object.assign(box, { value: text, rows: text.split("\n").length });
    box.focus();
    box.select();
    return `${name} is below, ready to be copied by hand.`;
  }
}

async function compared({ values, orders }) {
  const own = new Uint32Array((await libraryTable(orders.main.table)).buffer);
  const bits = new Uint32Array(values.buffer);
  const differ = bits.filter((value, at) => value !== own[at]).length;
  const verdict = differ ? `${whole(differ)} differ` : "all are equal";
  return `${whole(bits.length)} numbers compared with the library's, bit by bit: ${verdict}.`;
}
