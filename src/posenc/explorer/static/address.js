// The settings behind # in the address of the page. One file that holds every room also says there
// which of them is open; a page inside a notebook has no address and tells the notebook instead.

import { listen } from "./notebook.js";

const copy = JSON.parse(document.getElementById("baked")?.textContent ?? "{}");

/** Whether the page stands in a notebook. */
export const inNotebook = copy.kind === "notebook";

let told = copy.settings; // to a notebook or by it
if (inNotebook) {
  listen((settings) => {
    told = settings;
    dispatchEvent(new Event("hashchange"));
  });
}

/** The settings that the address holds, as `read` of state.js takes them. */
export function given() {
  if (inNotebook) return told;
  return copy.kind === "file" ? location.hash.replace(/^#room=\w*&?/, "#") : location.hash;
}

/** Writes settings, as `write` of state.js gives them, into the address; browsers can refuse. */
export function keep(settings) {
  if (inNotebook) {
    told = settings;
    parent.postMessage({ settings }, "*");
  } else {
    history.replaceState(null, "", inFile(copy.room, settings) || settings || location.pathname);
  }
}

/** Lets a link to a room take the settings along; one to this room leads to its beginning. */
export function takeAlong(link, settings) {
  if (copy.kind === "file") {
    const room = new URLSearchParams(link.hash.slice(1)).get("room");
    link.hash = inFile(room, room === copy.room ? "" : settings);
  } else {
    link.href = link.pathname + (link.pathname === location.pathname ? "" : settings);
  }
}

/** The hash of a room in one file of all; "" elsewhere. */
function inFile(room, settings) {
  return copy.kind === "file" && room ? `#room=${room}${settings.replace("#", "&")}` : "";
}
