// A curve that a visitor draws before the true one is shown: by pointer, or slider by slider.

import { html } from "../dom.js";
import { decimal, tick, whole } from "../words.js";

const HANDLES = 9;
const FULL = 100; // a handle's value at the top or the bottom of the scale
const STEP = 5;

export function create(change) {
  const sliders = Array.from({ length: HANDLES }, (_, at) => slider(at));
  const named = { class: "guess", role: "group", "aria-label": "Your guess" };
  const element = html("div", named, ...sliders);
  const button = html("button", { type: "button" });
  let shown = null;
  let drawn = [];

  function slider(at) {
    const own = html("input", { type: "range", min: -FULL, max: FULL, step: STEP });
    own.oninput = () => put(at, Number(own.value), false);
    own.onchange = () => put(at, Number(own.value), true);
    return own;
  }

  function put(at, value, done) {
    drawn[at] = value;
    change({ drawn: drawn.join(",") }, { done });
  }

  const pick = ({ clientX, clientY }, done) => {
    const box = element.getBoundingClientRect();
    const at = Math.round(((clientX - box.left) / box.width) * (HANDLES - 1));
    const y = shown.top - ((clientY - box.top) / box.height) * shown.height;
    put(Math.min(Math.max(at, 0), HANDLES - 1), percent(y), done);
  };
  element.onpointerdown = (event) => {
    element.setPointerCapture(event.pointerId);
    pick(event, false);
  };
  element.onpointermove = (event) => event.buttons && pick(event, false);
  element.onpointerup = (event) => pick(event, true);
  const NEXT = { no: "draw", draw: "shown", shown: "no" };
  const WORDS = { no: "Guess the curve first", draw: "Reveal", shown: "Put the guess away" };
  button.onclick = () => change({ guess: NEXT[shown.guess] }, { done: true });

  return {
    element,
    button,
    /**
     * Shows the guess of the settings on a scale: { rows, low, high, curve }, and what is in sight
     * as `top` and `height`. Gives the points of the guess as [distance, height].
     */
    update({ guess, drawn: text }, scale) {
      shown = { ...scale, guess };
      drawn = read(text);
      element.hidden = guess !== "draw";
      button.textContent = WORDS[guess];
      const range = { min: percent(scale.low), max: percent(scale.high) };
      points().forEach(([gap, height], at) => {
        Object.assign(sliders[at], { ...range, value: drawn[at] });
        sliders[at].style.left = `${(100 * at) / (HANDLES - 1)}%`;
        sliders[at].setAttribute("aria-label", `Guess at distance ${whole(gap)}`);
        sliders[at].setAttribute("aria-valuetext", decimal(height));
      });
      return guess === "no" ? [] : points();
    },
    /** What there is to do, or how good the guess was. */
    twin() {
      if (shown.guess === "no") return "";
      if (shown.guess === "shown") return score(points(), shown);
      const guessed = points().map(([gap, y]) => `${tick(y)} at ${whole(gap)}`).join(", ");
      const far = whole(shown.rows - 1);
      return `Draw how alike places 0 to ${far} apart are, then reveal. Your guess: ${guessed}.`;
    },
  };

  /** A height in steps of the handles. */
  function percent(height) {
    const value = Math.round((FULL * height) / largest(shown) / STEP) * STEP;
    return Math.min(Math.max(value, -FULL), FULL);
  }

  function points() {
    return drawn.map((value, at) => [
      Math.round((at * (shown.rows - 1)) / (HANDLES - 1)),
      (value / FULL) * largest(shown),
    ]);
  }
}

/** What stands for 100: the end of the scale that is farther from zero. */
function largest({ low, high }) {
  return Math.max(-low, high) || 1;
}

/** Nine numbers from -100 to 100; what is missing or no number is 0. */
function read(text) {
  const given = text.split(",").map(Number);
  const fits = (value) => (Number.isFinite(value) ? Math.min(Math.max(value, -FULL), FULL) : 0);
  return Array.from({ length: HANDLES }, (_, at) => fits(given[at]));
}

function score(points, { curve, low, high }) {
  const misses = curve
    .filter(({ gap }) => gap >= 0)
    .map(({ gap, mean }) => ({ gap, off: height(points, gap) - mean }));
  if (!misses.length) return "";
  const square = misses.reduce((sum, { off }) => sum + off * off, 0) / misses.length;
  const worst = misses.reduce((most, miss) =>
    Math.abs(miss.off) > Math.abs(most.off) ? miss : most,
  );
  const part = Math.round((FULL * Math.sqrt(square)) / (high - low || 1));
  return (
    `Your guess is off by ${decimal(Math.sqrt(square))} (root of the mean square), ${part}% of ` +
    `the scale; most at distance ${whole(worst.gap)}, where it is ` +
    `${decimal(Math.abs(worst.off))} too ${worst.off > 0 ? "high" : "low"}.`
  );
}

/** The guess at a distance, on straight lines between its points. */
function height(points, gap) {
  const after = points.findIndex(([x]) => x >= gap);
  if (after < 1) return points[Math.max(after, 0)][1];
  const [[x0, y0], [x1, y1]] = [points[after - 1], points[after]];
  return y0 + ((y1 - y0) * (gap - x0)) / (x1 - x0);
}
