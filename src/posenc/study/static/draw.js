// A curve to be drawn: over the picture with a pointer, or by sliders, one a point, with keys.

import { dots, html, line, plot, set, svg } from "../static/dom.js";

const HALF = 0.5;
const MARGIN = 0.1; // of the height, above and below
const STEPS = 40; // of a slider, so that a key moves it visibly
const MOST_LABELS = 11;

/** The parts of such a question, and what judges it. */
export function draw({ curve, at, tolerance }, id) {
  const [low, high] = [Math.min(...curve), Math.max(...curve)];
  const height = high - low;
  const points = (heights) => heights.map((value, column) => [column, -value]);
  const [path, marks, truth] = ["curve", "marks", "faint"].map((name) => svg("path", { class: name }));
  const zero = svg("path", { class: "zero", d: low <= 0 && high >= 0 ? line([[-HALF, 0], [curve.length - HALF, 0]]) : "" });
  const top = -high - MARGIN * height;
  const picture = plot([-HALF, top, curve.length, (1 + 2 * MARGIN) * height], zero, truth, path, marks);

  const sliders = curve.map((_, column) => {
    const label = `Height at ${written(at[column])}`;
    const slider = html("input", { type: "range", min: 0, max: STEPS, value: STEPS / 2, "aria-label": label });
    slider.oninput = update;
    return slider;
  });
  const heights = () => sliders.map(({ value }) => low + (value / STEPS) * height);
  function update() {
    const drawn = heights();
    set(path, { d: line(points(drawn)) });
    set(marks, { d: dots(points(drawn)) });
    sliders.forEach((slider, column) => set(slider, { "aria-valuetext": written(drawn[column]) }));
  }
  update();

  picture.onpointerdown = (event) => {
    picture.setPointerCapture(event.pointerId);
    follow(event);
  };
  picture.onpointermove = (event) => {
    if (picture.hasPointerCapture(event.pointerId)) follow(event);
  };
  function follow({ clientX, clientY }) {
    const box = picture.getBoundingClientRect();
    const column = Math.floor(((clientX - box.left) / box.width) * curve.length);
    const up = (1 + MARGIN - ((clientY - box.top) / box.height) * (1 + 2 * MARGIN)) * STEPS;
    const slider = sliders[Math.min(Math.max(column, 0), curve.length - 1)];
    slider.value = up; // kept within its range by itself
    update();
  }

  const judge = () => {
    const gaps = heights().map((value, column) => Math.abs(value - curve[column]));
    const gap = Math.max(...gaps);
    set(truth, { d: line(points(curve)) });
    const words =
      `Your largest miss is ${percent(gap / height)} of the curve's height, at ${written(at[gaps.indexOf(gap)])}; ` +
      `up to ${percent(tolerance)} counts as right. The broken line is the true curve.`;
    return { right: gap <= tolerance * height, words };
  };

  const every = Math.ceil(curve.length / MOST_LABELS);
  const labels = at.map((place, column) => html("span", {}, column % every ? "" : written(place)));
  const axis = html("p", { class: "heights", "aria-hidden": "true" }, html("span", {}, written(high)), html("span", {}, written(low)));
  const hint = html("p", { class: "hint" }, "Draw over the picture, or move the sliders below it, one a point.");
  const drawing = html("div", { class: "drawn" }, axis, picture);
  const below = html("div", { class: "sliders", role: "group", "aria-label": `Heights from ${written(low)} to ${written(high)}` }, ...sliders);
  const foot = html("p", { class: "places", "aria-hidden": "true" }, ...labels);
  return { parts: [hint, html("div", { class: "draws", id: `${id}-draw` }, drawing, below, foot)], judge };
}

function percent(share) {
  return `${Math.round(100 * share)} %`;
}

function written(value) {
  return String(Number(value.toPrecision(3))).replace("-", "−");
}
