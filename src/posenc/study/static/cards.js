// Cards, one at a time, in boxes: a card that was known moves on and rests twice as long.

import { html } from "../static/dom.js";
import { load, save } from "./memory.js";

const DAY = 86_400_000; // milliseconds
const BOXES = [0, 1, 2, 4, 8, 16, 32]; // days of rest

for (const deck of document.querySelectorAll(".deck")) start(deck);

function start(deck) {
  const cards = JSON.parse(deck.dataset.cards);
  const list = deck.querySelector("dl");
  const known = load("cards");
  const due = () => cards.filter(({ id }) => !known[id] || known[id].rests <= Date.now());
  const place = html("div", { class: "card", role: "group", "aria-label": "Card" });
  const all = html("button", { type: "button", "aria-expanded": "false" }, "Show all cards");
  all.onclick = () => {
    list.hidden = !list.hidden;
    all.setAttribute("aria-expanded", String(!list.hidden));
  };
  list.hidden = true;
  list.before(place, html("p", { class: "buttons" }, all));

  function show(focus) {
    const left = due();
    if (!left.length) {
      place.replaceChildren(html("p", { role: "status" }, "No card is due. Come back tomorrow, or show all."));
      return;
    }
    const [card] = left;
    const front = html("p", { class: "front" });
    front.innerHTML = card.front; // rendered by the library
    const turn = html("button", { type: "button" }, "Turn");
    const count = html("p", { class: "hint" }, `${left.length} of ${cards.length} cards are due.`);
    turn.onclick = () => turned(card);
    place.replaceChildren(count, front, html("p", { class: "buttons" }, turn));
    if (focus) turn.focus();
  }

  function turned(card) {
    const back = html("p", { class: "back", role: "status" });
    back.innerHTML = card.back;
    const answers = [["I knew it", 1], ["Not yet", 0]].map(([words, step]) => {
      const button = html("button", { type: "button" }, words);
      button.onclick = () => {
        const box = step ? Math.min((known[card.id]?.box ?? 0) + 1, BOXES.length - 1) : 0;
        known[card.id] = { box, rests: Date.now() + BOXES[box] * DAY + (step ? 0 : 60_000) };
        save("cards", known);
        show(true);
      };
      return button;
    });
    place.querySelector(".buttons").replaceChildren(...answers);
    place.querySelector(".buttons").before(back);
    answers[0].focus();
  }

  show(false);
}
