// Making elements.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element with attributes and children. */
export function html(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element with attributes and children. */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** Sets attributes that differ, so that an unchanged picture costs nothing. */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
  }
}

/** A drawing that fills its box whatever the shape; lines keep their width in it. */
export function plot(box, ...children) {
  const attributes = { viewBox: box.join(" "), preserveAspectRatio: "none", "aria-hidden": "true" };
  return svg("svg", attributes, ...children);
}

/** A path through points given as [x, y]. */
export function line(points) {
  return points.length ? `M${points.map(([x, y]) => `${short(x)} ${short(y)}`).join("L")}` : "";
}

/** A path that is a dot at each point, where line ends are round. */
export function dots(points) {
  return points.map(([x, y]) => `M${short(x)} ${short(y)}h0`).join("");
}

function short(value) {
  return Math.round(value * 1e4) / 1e4;
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
