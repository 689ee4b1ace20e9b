// The settings of a model, sent to the library's inspector; what it says, and a way into the room.

import { html } from "../dom.js";
import { bytes, create as createDrop } from "../dropped.js";
import { hand, READER } from "../library.js";
import { most, slowing } from "../slowing.js";
import { defaults } from "../state.js";
import { amount, whole } from "../words.js";

// As many bytes as the library reads, and of a text one more, which it refuses in words.
const MOST = { header: 2 ** 25, text: 2 ** 20 + 1 };
const OFFLINE =
  "Reading a model's settings needs the library, which these saved pages do not have: " +
  "install it with pip install 'posenc[explore]' and start posenc explore.";

export function create(figure, change, page) {
  const drawing = figure.querySelector(".drawing");
  const twin = figure.querySelector("figcaption");
  if (page.offline) {
    drawing.append(html("p", {}, OFFLINE));
    twin.textContent = "0 models can be read in pages that were saved.";
    return () => {};
  }
  const status = html("p", { class: "status", role: "status" });
  const report = html("div", { class: "report" });
  let choices = []; // { settings, button } of the uses that the room can show
  let scene = null;
  twin.textContent =
    "Nothing is read yet. A config.json of up to 1 MiB, or the first 32 MiB of a GGUF file, goes to " +
    `${READER}.`;

  const say = (message, wrong = false) => {
    status.textContent = message;
    status.classList.toggle("wrong", wrong);
  };
  const complain = (message) => say(message, true);
  const take = async (blob, name) => {
    say("Reading …");
    try {
      const said = await read(blob, name);
      say("");
      choices = tell(report, said, show);
      twin.textContent = summary(said);
      press();
    } catch (error) {
      complain(error.message);
    }
  };
  function show(use, source) {
    change(use.settings, { done: true });
    say(`The room shows ${use.title} of ${source}.`);
    document.getElementById("pictures").scrollIntoView();
  }
  function press() {
    for (const { settings, button } of choices) button.setAttribute("aria-pressed", isShown(settings, scene, page));
  }
  drawing.append(
    createDrop({
      accept: ".json,.gguf",
      label: "config.json or GGUF file",
      placeholder: '{ "model_type": … }',
      take,
      complain,
    }),
    status,
    report,
  );
  return (given) => {
    scene = given;
    press();
  };
}

/** What the library says of a file. */
async function read(blob, name) {
  const start = await bytes(blob.slice(0, 4), name);
  const most = String.fromCharCode(...new Uint8Array(start)) === "GGUF" ? MOST.header : MOST.text;
  const body = await bytes(blob.slice(0, most), name);
  const reply = await hand("/data/read", { name, size: blob.size }, body);
  return reply.json();
}

/** Whether the room shows just what these settings describe. */
function isShown(settings, scene, page) {
  if (!scene || scene.settings.encoding !== settings.encoding) return false;
  const wanted = { ...defaults(page, settings.encoding), ...settings };
  const names = page.methods[settings.encoding].controls.map(({ name }) => name);
  return ["wanted", ...names].every((name) => wanted[name] === scene.settings[name]);
}

function summary({ source, model, uses, left, findings }) {
  const counts = ["error", "warning", "note"].flatMap((kind) => {
    const count = findings.filter(({ severity }) => severity === kind).length;
    return count ? [counted(count, kind)] : [];
  });
  const what = model ? `${source}, a model of type ${model}` : source;
  return `${what}: ${counted(uses.length + left, "encoding")}; ${counts.join(", ") || "nothing odd was found"}.`;
}

function counted(count, thing) {
  return `${whole(count)} ${thing}${count === 1 ? "" : "s"}`;
}

/** Writes the report; returns the uses that the room can show, each with its button. */
function tell(report, said, show) {
  const choices = [];
  const parts = said.uses.map((use) => useOf(use, said, show, choices));
  report.replaceChildren(
    html("h3", {}, said.model ? `${said.source}: ${said.model}` : said.source),
    ...(said.findings.length ? [html("ul", { class: "findings" }, ...said.findings.map(finding))] : []),
    ...parts,
    ...(said.left ? [html("p", {}, `${whole(said.left)} more are not shown: posenc inspect lists all.`)] : []),
  );
  return choices;
}

function finding({ severity, key, value, why, cure }) {
  const what = html("code", {}, value ? `${key} = ${value}` : key);
  return html("li", { class: severity }, html("strong", {}, severity), " ", what, ` ${why} ${cure}`);
}

function useOf(use, { source }, show, choices) {
  const { title, part, layers, rows, values, effect, settings, told } = use;
  const where = [part, layers && `layers: ${layers}`].filter(Boolean).join(", ");
  const words = rows.flatMap(([name, sentence]) => [html("dt", {}, name), html("dd", {}, sentence)]);
  const rest = [];
  if (settings) {
    const button = html("button", { type: "button" }, "Show it in this room");
    button.onclick = () => show(use, source);
    choices.push({ settings, button });
    rest.push(button);
  }
  if (told.length) rest.push(html("p", { class: "hint" }, told.join(" ")));
  if (effect && effect.kind !== "none") {
    rest.push(slowing(effect, most([effect])), html("p", { class: "hint" }, picture(effect)));
  }
  return html(
    "article",
    { class: "use" },
    html("h4", {}, title),
    html("p", { class: "hint" }, where),
    html("div", { class: "way" }, ...rest),
    html("dl", {}, ...words),
    origins(values),
  );
}

function picture({ name, slower }) {
  const times = amount(Math.max(...slower.filter(Number.isFinite), 1));
  return `${name}: pairs turn up to ${times} times slower, fast pairs on the left.`;
}

/** Where each value came from. */
function origins(values) {
  const rows = values.map(([name, value, origin]) =>
    html("tr", {}, html("th", { scope: "row" }, name), html("td", {}, value), html("td", {}, origin)),
  );
  const title = `Where ${counted(values.length, "value")} came from`;
  const table = html("table", {}, html("tbody", {}, ...rows));
  const box = html("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": title }, table);
  return html("details", {}, html("summary", {}, title), box);
}
