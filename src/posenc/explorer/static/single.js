// Opens a room of one file that holds every room: puts its page in place, and runs the modules of
// the page from memory, since a file on disk may load no others.

import { unpacked } from "./packing.js";

const copy = JSON.parse(document.getElementById("baked").textContent);
const { rooms, modules } = await unpacked(document.getElementById("program").textContent);

const asked = copy.room ?? new URLSearchParams(location.hash.slice(1)).get("room");
const name = Object.hasOwn(rooms, asked) ? asked : "";
const { title, body, style = "", content } = rooms[name];

document.title = title;
document.body.innerHTML = body;
dress(style);
// A notebook gives the frame of the page the settings as its name.
hold("baked", { ...copy, room: name, settings: copy.room ? window.name : "" });
if (content) hold("page", content);
addEventListener("hashchange", () => {
  const next = new URLSearchParams(location.hash.slice(1)).get("room");
  if (next !== null && next !== name) location.reload();
});
await run(name ? `rooms/${name}.js` : "front.js");
document.getElementById(location.hash.slice(1))?.focus();

function dress(text) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets.push(sheet);
}

/** Data for the modules, where they look for it. */
function hold(id, data) {
  document.getElementById(id)?.remove();
  const element = Object.assign(document.createElement("script"), { id, type: "application/json" });
  element.textContent = JSON.stringify(data);
  document.head.append(element);
}

function run(first) {
  const addresses = new Map();
  for (const [path, source] of modules) {
    const linked = source.replace(/"module:([^"]+)"/g, (_, other) => `"${addresses.get(other)}"`);
    addresses.set(path, URL.createObjectURL(new Blob([linked], { type: "text/javascript" })));
  }
  return import(addresses.get(first));
}
