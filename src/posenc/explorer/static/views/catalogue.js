// The mistakes that are made in an encoding, as switches, and what is said of the one that is on.

import { inNotebook, takeAlong } from "../address.js";
import { html } from "../dom.js";
import { said } from "../said.js";
import { write } from "../state.js";
import { whole } from "../words.js";

const KINDS = { wrong: "Wrong", harmless: "Harmless, but not the same" };

export function create(figure, change, page) {
  const switches = html("div", { class: "switches" });
  const others = html("div", { class: "switches others" });
  const told = html("div", { class: "told" });
  const ways = html("p", { class: "ways" });
  figure.querySelector(".drawing").append(switches, others, told, ways);
  let built = "";
  let builtOthers = "";
  let buttons = [];

  function build(choices) {
    const names = JSON.stringify(choices);
    if (names === built) return;
    built = names;
    const kinds = Object.keys(KINDS).map((kind) => choices.filter(({ severity }) => severity === kind));
    buttons = choices.map(({ name }) => {
      const button = html("button", { type: "button" }, name);
      button.onclick = () => {
        const mistake = button.getAttribute("aria-pressed") === "true" ? "" : name;
        change({ mistake, case: 0, guess: "", told: "no" }, { done: true });
      };
      return { name, button };
    });
    const buttonOf = ({ name }) => buttons.find((each) => each.name === name).button;
    switches.replaceChildren(...kinds.filter(({ length }) => length).map((members) => {
      const heading = KINDS[members[0].severity];
      return html("fieldset", { class: "chips" }, html("legend", {}, heading), ...members.map(buttonOf));
    }));
  }

  function offerOthers(found) {
    const names = JSON.stringify(found);
    if (names === builtOthers) return;
    builtOthers = names;
    const items = found.map(({ name, sets, settings }) => {
      const button = html("button", { type: "button" }, name, html("small", {}, `sets ${sets}`));
      button.onclick = () => change({ ...settings, mistake: name, case: 0, guess: "", told: "no" }, { done: true });
      return button;
    });
    const legend = html("legend", {}, "Made with other settings, which are set along");
    others.replaceChildren(...(items.length ? [html("fieldset", { class: "chips" }, legend, ...items)] : []));
  }

  return (scene) => {
    const { mistake = "" } = scene.settings;
    const { rooms } = scene.answer;
    const method = page.methods[scene.settings.encoding];
    const choices = offered(scene.answer.choices, method);
    const idle = offered(scene.answer.others, method);
    build(choices);
    offerOthers(idle);
    for (const { name, button } of buttons) button.setAttribute("aria-pressed", name === mistake);
    const chosen = choices.find(({ name }) => name === mistake);
    const { note } = scene.recipe;
    told.replaceChildren(...(chosen ? said(chosen) : []), ...(note ? [html("p", { class: "hint" }, note)] : []));
    ways.replaceChildren(...(chosen ? links(rooms, scene.settings, page) : []));
    figure.querySelector("figcaption").textContent = twin(choices, chosen, idle);
  };
}

/** The mistakes that the page can switch on. */
function offered(choices, { controls }) {
  const known = controls.find(({ name }) => name === "mistake")?.options ?? [];
  return choices.filter(({ name }) => known.some(({ value }) => value === name));
}

/** Links to the rooms that show the same encoding with its mistake; none leads out of a notebook. */
function links(rooms, settings, page) {
  if (inNotebook) return [];
  const doors = [...document.querySelectorAll("nav a")].filter((link) => rooms.includes(roomOf(link)));
  const found = doors.map((door) => {
    const link = html("a", { href: door.getAttribute("href") }, door.textContent);
    takeAlong(link, write({ ...settings, case: 0, guess: "", told: "no" }, page));
    return link;
  });
  return ["See it in ", ...found.flatMap((link, at) => (at ? [", ", link] : [link])), "."];
}

/** The room that a link of the page's head leads to, on a server, in a folder or in one file. */
function roomOf(link) {
  const inFile = new URLSearchParams(link.hash.slice(1)).get("room");
  return inFile ?? link.pathname.split("/").at(-1).replace(/\.html$/, "");
}

function twin(choices, chosen, idle) {
  const more = idle.map(({ name, sets }) => ` “${name}” is made with other settings: choosing it sets ${sets}.`);
  return told(choices, chosen) + more.join("");
}

function told(choices, chosen) {
  if (!choices.length) return "With these settings, 0 mistakes are known.";
  const count = `${whole(choices.length)} mistake${choices.length === 1 ? " is" : "s are"} known to be made here`;
  if (!chosen) return `${count}. None is switched on.`;
  return `${count}. Switched on is “${chosen.name}”, which is ${chosen.severity}.`;
}
