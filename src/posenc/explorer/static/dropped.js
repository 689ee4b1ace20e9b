// A file or a text from the visitor: chosen, dropped anywhere on the page, or pasted.

import { html } from "./dom.js";

/**
 * Makes the place for it. `take(blob, name)` is called with what came; the name of a pasted text
 * is "". `complain(message)` when there was nothing to take.
 */
export function create({ accept, label, placeholder, take, complain }) {
  const file = html("input", { type: "file", id: "file", accept });
  const text = html("textarea", { id: "pasted", rows: 4, spellcheck: "false", placeholder });
  const read = html("button", { type: "button", id: "read" }, "Read the text");
  file.onchange = () => {
    if (file.files.length) take(file.files[0], file.files[0].name);
    file.value = ""; // so that the same file can be chosen again
  };
  read.onclick = () => {
    if (text.value.trim()) take(new Blob([text.value]), "");
    else complain("There is no text to read: paste one first.");
  };
  const element = html(
    "div",
    { class: "drop" },
    html("p", {}, html("label", { for: "file" }, label), file),
    html("p", {}, html("label", { for: "pasted" }, "or paste it"), text),
    read,
  );
  catchDrops(element, take, complain);
  return element;
}

/** The content of what came. A folder can be dropped like a file, and cannot be opened. */
export async function bytes(blob, name) {
  try {
    return await blob.arrayBuffer();
  } catch {
    throw new Error(`${name || "The text"} cannot be opened: choose one file, not a folder.`);
  }
}

/** A file that misses its place would replace the page, and all settings with it. */
function catchDrops(element, take, complain) {
  addEventListener("dragover", (event) => {
    if (!holdsFile(event)) return;
    event.preventDefault();
    element.classList.add("over");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) element.classList.remove("over");
  });
  addEventListener("drop", (event) => {
    element.classList.remove("over");
    if (!holdsFile(event)) return;
    event.preventDefault();
    const [first] = event.dataTransfer.files;
    if (first) take(first, first.name);
    else complain("What was dropped holds no file.");
  });
}

function holdsFile({ dataTransfer }) {
  return dataTransfer?.types.includes("Files");
}
