// Every pair as the hand of a clock, on one canvas: hundreds move as smoothly as a few.

import { html } from "../dom.js";
import { wave } from "../kernel.js";
import { countable, handOf, lengthOf, pairsOf, partOf, ranges, turnsOf, unitOf } from "../pairs.js";
import { amount, place, whole } from "../words.js";

const TALL = 460; // CSS pixels that all dials together take at most
const LARGE = 116; // the largest dial, in CSS pixels
const NAMED = 54; // dials of this size have room for a number
const WHOLE = 2 * Math.PI;

export function create(figure, change) {
  const named = { "aria-labelledby": "clocks-title", "aria-describedby": "clocks-twin" };
  const canvas = html("canvas", { role: "img", ...named });
  const button = html("button", { type: "button" }, "Play");
  figure.querySelector(".drawing").append(canvas, html("p", {}, button));
  let shown = null; // the scene, with its pairs and how they are laid out
  const player = play(button, change, (between) => paint(canvas, shown, between));

  new ResizeObserver(() => {
    if (!shown) return;
    shown.layout = layout(canvas.parentElement.clientWidth, shown.pairs.length);
    paint(canvas, shown, 0);
  }).observe(canvas.parentElement);

  canvas.onclick = ({ offsetX, offsetY }) => {
    const { across, side } = shown.layout;
    const column = Math.floor(offsetX / side);
    const chosen = column < across && shown.pairs[Math.floor(offsetY / side) * across + column];
    if (chosen) change({ column: Math.min(chosen.sin, chosen.cos) }, { done: true });
  };

  const drawing = figure.querySelector(".drawing");
  return (scene) => {
    const pairs = shown?.recipe === scene.recipe ? shown.pairs : pairsOf(scene.recipe);
    drawing.style.display = pairs.length ? "" : "none";
    if (!pairs.length) {
      shown = null;
      figure.querySelector("figcaption").textContent =
        `With these settings 0 of ${whole(scene.columns)} columns are a sine or a cosine.`;
      return;
    }
    const spread = layout(canvas.parentElement.clientWidth, pairs.length);
    shown = { ...scene, pairs, layout: spread, ink: inks(figure) };
    paint(canvas, shown, player.follow(scene));
    figure.querySelector("figcaption").textContent = twin(shown);
  };
}

/**
 * The button that plays. Between two positions the hands glide, or jump from one to the next where
 * motion is unwelcome and where nothing says what lies between.
 */
function play(button, change, glide) {
  let scene = null;
  let running = false;
  let [time, between] = [0, 0];
  const last = () => scene.span.start + scene.rows - 1;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const calm = () => still.matches || scene.recipe.kind !== "waves";

  function run(on) {
    running = on;
    between = 0;
    button.textContent = on ? "Pause" : "Play";
  }

  function frame(now) {
    if (!running) return;
    const { position, speed } = scene.settings;
    between += Math.max((now - time) / 1000, 0) * speed;
    time = now;
    const steps = Math.floor(between);
    if (position + steps >= last()) {
      run(false);
      change({ position: last() }, { done: true });
      return;
    }
    between -= steps;
    if (steps) change({ position: position + steps }, { done: false });
    else if (!calm()) glide(between);
    requestAnimationFrame(frame);
  }

  button.onclick = () => {
    const { position } = scene.settings;
    run(!running);
    if (!running) return change({ position }, { done: true });
    if (position >= last()) change({ position: scene.span.start }, { done: false });
    time = performance.now();
    requestAnimationFrame(frame);
  };
  return {
    /** Keeps up with the settings; says how far beyond the position the hands stand now. */
    follow(next) {
      scene = next;
      return running && !calm() ? between : 0;
    },
  };
}

/** As few dials in a row as fit into the height. */
function layout(width, count) {
  let across = 1;
  const side = () => Math.min(width / across, LARGE);
  while (Math.ceil(count / across) * side() > TALL && across < count) across += 1;
  across = Math.max(across, Math.min(count, Math.floor(width / LARGE)));
  return { across, side: side(), down: Math.ceil(count / across), width };
}

function inks(figure) {
  const style = getComputedStyle(figure);
  const names = ["ink", "muted", "edge", "plus", "minus"];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`)]));
}

function paint(canvas, scene, between) {
  const { pairs, ink } = scene;
  const { across, side, down, width } = scene.layout;
  const ratio = devicePixelRatio;
  const size = { width: Math.round(width * ratio), height: Math.round(down * side * ratio) };
  Object.assign(canvas, size); // which wipes it, too
  Object.assign(canvas.style, { width: `${width}px`, height: `${down * side}px` });
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const named = side >= NAMED;
  const radius = (named ? 0.38 : 0.44) * side;
  const places = pairs.map((pair, at) => ({
    pair,
    x: (at % across) * side + side / 2,
    y: Math.floor(at / across) * side + (named ? 0.42 : 0.5) * side,
    hand: handAt(scene, pair, between),
  }));
  const [, under] = scene.recipe.columns[scene.column];
  const current = places.filter(({ pair }) => pair.pair === under);
  fill(pen, scene, places, radius);
  stroke(pen, ink.edge, side < NAMED ? 0.5 : 1, places, ({ x, y }) => circle(pen, x, y, radius));
  stroke(pen, ink.ink, 1.5, current, ({ x, y }) => circle(pen, x, y, radius));
  trail(pen, scene, places, radius);
  const thick = Math.max(Math.min(side / 24, 3), 1);
  const arm = ({ x, y, hand }) => {
    pen.moveTo(x, y);
    pen.lineTo(x + hand.across * radius, y - hand.up * radius);
  };
  stroke(pen, ink.minus, thick, places, arm);
  stroke(pen, ink.plus, thick + 1, current, arm);
  if (named) names(pen, ink, places, under, radius);
}

/** Where a hand points, as a part of its dial's radius; between positions as the recipe says. */
function handAt(scene, pair, between) {
  const { recipe, row, span } = scene;
  const scale = recipe.scale ?? 1;
  if (!between) {
    const { across, up } = handOf(scene, pair, row);
    return { across: across / scale, up: up / scale };
  }
  const at = span.start + row + between;
  return { across: wave(recipe, pair.sin, at) / scale, up: wave(recipe, pair.cos, at) / scale };
}

/** The part of the first turn that is done. */
function fill(pen, scene, places, radius) {
  if (!countable(scene.recipe)) return;
  pen.fillStyle = scene.ink.minus;
  pen.globalAlpha = 0.16;
  pen.beginPath();
  for (const { pair, x, y } of places) {
    const done = Math.abs(turnsOf(scene, pair, scene.row));
    pen.moveTo(x, y);
    pen.arc(x, y, radius, -WHOLE / 4, Math.min(done, 1) * WHOLE - WHOLE / 4);
  }
  pen.fill();
  pen.globalAlpha = 1;
}

/** Dots where the hand pointed at positions before, the older the fainter. */
function trail(pen, scene, places, radius) {
  const { settings, row, ink, recipe } = scene;
  const far = Math.min(settings.trail, row);
  const dot = Math.max(Math.min(radius / 8, 3), 1);
  const reach = radius / (recipe.scale ?? 1);
  pen.fillStyle = ink.minus;
  for (let back = far; back > 0; back -= 1) {
    pen.globalAlpha = 0.75 * (1 - (back - 1) / settings.trail);
    for (const { pair, x, y } of places) {
      const { across, up } = handOf(scene, pair, row - back);
      pen.fillRect(x + across * reach - dot / 2, y - up * reach - dot / 2, dot, dot);
    }
  }
  pen.globalAlpha = 1;
}

function circle(pen, x, y, radius) {
  pen.moveTo(x + radius, y);
  pen.arc(x, y, radius, 0, WHOLE);
}

function stroke(pen, colour, width, places, draw) {
  Object.assign(pen, { strokeStyle: colour, lineWidth: width, lineCap: "round" });
  pen.beginPath();
  places.forEach(draw);
  pen.stroke();
}

function names(pen, ink, places, under, radius) {
  pen.textAlign = "center";
  pen.textBaseline = "top";
  for (const { pair, x, y } of places) {
    const current = pair.pair === under;
    pen.font = `${current ? "700" : "400"} 11px sans-serif`;
    pen.fillStyle = current ? ink.ink : ink.muted;
    pen.fillText(String(pair.pair), x, y + radius + 2);
  }
}

function twin(scene) {
  const { recipe, pairs, row, span, axes, column } = scene;
  const where = place(axes.row, span.start + row);
  const [, under] = recipe.columns[column];
  const current = pairs.find(({ pair }) => pair === under);
  const hand = current
    ? `The hand of pair ${under}, under the cursor, points where a minute hand does at ` +
      `${clock(handOf(scene, current, row))}.`
    : `Column ${column}, under the cursor, has no partner and so no hand.`;
  if (!countable(recipe)) return `At ${where} there are ${whole(pairs.length)} hands. ${hand}`;
  const slowest = Math.max(...pairs.map((pair) => Math.abs(lengthOf(recipe, pair))));
  const needs = `The slowest needs ${amount(slowest)} ${unitOf(recipe)} for one.`;
  return `At ${where}, ${done(scene)} ${needs} ${hand}`;
}

/** How many pairs have finished a turn, and which. */
function done(scene) {
  const { pairs, row } = scene;
  const finished = pairs.filter((pair) => Math.abs(turnsOf(scene, pair, row)) >= 1);
  if (pairs.length === 1) return `the one pair has ${finished.length ? "" : "not "}finished a turn.`;
  if (!finished.length) return `none of the ${whole(pairs.length)} pairs has finished a turn.`;
  const which = ranges(finished.map(({ pair }) => pair));
  const have = finished.length === 1 ? "has" : "have";
  return `${whole(finished.length)} of ${whole(pairs.length)} pairs ${have} finished a turn: ${which}.`;
}

/** Where a hand points, as people say it of a clock. */
function clock(hand) {
  return `${Math.round(partOf(hand) * 60) % 60} minutes past twelve`;
}
