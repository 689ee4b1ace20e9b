// Rooms of the explorer inside a page: each is loaded when it comes near, with its controls and
// pictures alone in sight. Until then, and on paper, a still picture of the table stands there.

import { html } from "../static/dom.js";

const STYLE = new URL("inside.css", import.meta.url);

const near = new IntersectionObserver(
  (entries) => entries.filter(({ isIntersecting }) => isIntersecting).forEach(({ target }) => open(target)),
  { rootMargin: "50% 0px" },
);

function open(figure) {
  near.unobserve(figure);
  const title = figure.querySelector("figcaption").textContent;
  const frame = html("iframe", { src: figure.dataset.room, title, class: "coming" });
  frame.onload = () => {
    const link = frame.contentDocument.createElement("link");
    link.onload = () => frame.classList.remove("coming");
    Object.assign(link, { rel: "stylesheet", href: STYLE });
    frame.contentDocument.head.append(link);
  };
  figure.querySelector("figcaption").after(frame);
}

for (const figure of document.querySelectorAll("figure.room")) near.observe(figure);
