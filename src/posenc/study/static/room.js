// Rooms of the explorer inside a page: loaded when the reader asks, as a page may have several.

import { html } from "../static/dom.js";

for (const figure of document.querySelectorAll("figure.room")) {
  const open = html("button", { type: "button" }, "Play here");
  open.onclick = () => {
    const title = figure.querySelector("figcaption").textContent;
    open.replaceWith(html("iframe", { src: figure.dataset.room, title, loading: "lazy" }));
  };
  figure.prepend(open);
}
