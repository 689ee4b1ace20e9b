// A figure as one SVG file: its drawings, canvases and words, where they stand on the page.

import { svg } from "./dom.js";

const LOOKS = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap",
  "stroke-linejoin", "opacity", "vector-effect", "paint-order",
];
const TYPE = ["fill", "font-family", "font-size", "font-weight", "font-style"];

/** The figure as an SVG element of its own, with all styles written into it. */
export function drawingOf(figure) {
  const frame = figure.getBoundingClientRect();
  const { width, height } = frame;
  const paper = svg("rect", { width, height, fill: getComputedStyle(figure).backgroundColor });
  const whole = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` }, paper);
  const place = (element) => {
    const box = element.getBoundingClientRect();
    return { x: box.left - frame.left, y: box.top - frame.top, width: box.width, height: box.height };
  };
  for (const element of figure.querySelectorAll("canvas, svg")) {
    if (!element.checkVisibility() || element.parentElement.closest("svg")) continue;
    const drawn = element.tagName === "svg" ? copied(element) : imageOf(element);
    const attributes = place(element);
    for (const [name, value] of Object.entries(attributes)) drawn.setAttribute(name, value);
    whole.append(drawn);
  }
  for (const line of words(figure)) whole.append(line(frame));
  return whole;
}

function imageOf(canvas) {
  const href = canvas.toDataURL();
  return svg("image", { href, preserveAspectRatio: "none", "image-rendering": "pixelated" });
}

/** A drawing with the styles that the page's stylesheet gives it. */
function copied(drawing) {
  const copy = drawing.cloneNode(true);
  const originals = [drawing, ...drawing.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((part, at) => {
    const style = getComputedStyle(originals[at]);
    for (const name of part.tagName === "text" ? [...LOOKS, ...TYPE] : LOOKS) {
      part.setAttribute(name, style.getPropertyValue(name));
    }
    part.removeAttribute("class");
  });
  return copy;
}

/** Every line of words in sight, as functions that draw it inside a frame. */
function words(figure) {
  const walker = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT);
  const lines = [];
  for (let node; (node = walker.nextNode()); ) {
    const parent = node.parentElement;
    const idle = parent.closest("svg, details, button, select, fieldset, .hidden");
    if (idle || !node.textContent.trim() || !parent.checkVisibility()) continue;
    lines.push(...linesOf(node, parent));
  }
  return lines;
}

/** A text node, line by line as the browser broke it. */
function linesOf(node, parent) {
  const range = document.createRange();
  const rows = new Map();
  const { textContent } = node;
  for (let at = 0; at < textContent.length; at += 1) {
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    const box = range.getBoundingClientRect();
    if (!box.width && !box.height) continue;
    const row = rows.get(box.top) ?? { box, text: "" };
    rows.set(box.top, { box: row.box, text: row.text + textContent[at] });
  }
  const style = getComputedStyle(parent);
  return [...rows.values()].map(({ box, text }) => (frame) => {
    const attributes = { x: box.left - frame.left, y: box.bottom - frame.top - box.height * 0.24, fill: style.color };
    for (const name of TYPE.slice(1)) attributes[name] = style.getPropertyValue(name);
    return svg("text", attributes, text.trim());
  });
}
