// A field that leaves of all names those that hold what is typed, in them or in their words.

import { html } from "../static/dom.js";

const input = html("input", { type: "search", autocomplete: "off", spellcheck: "false" });
const said = html("p", { class: "hint", role: "status" });
const names = [...document.querySelectorAll("[data-name]")].map((element) => ({
  element,
  words: element.textContent.toLowerCase(),
}));

input.oninput = filter;
input.onkeydown = ({ key }) => {
  const first = names.find(({ element }) => !element.hidden);
  if (key === "Enter" && first) first.element.querySelector("a").click();
};
document.querySelector("[data-names]").append(html("label", {}, "Find a name ", input), said);
filter(); // a browser that goes back keeps what was typed

function filter() {
  const asked = input.value.toLowerCase().split(/\s+/);
  for (const { element, words } of names) {
    element.hidden = !asked.every((word) => words.includes(word));
  }
  for (const section of document.querySelectorAll(".names")) {
    section.hidden = !section.querySelector("[data-name]:not([hidden])");
  }
  const left = names.filter(({ element }) => !element.hidden).length;
  said.textContent = input.value.trim() ? `${left} of ${names.length} names. Enter opens the first.` : "";
}
