// Files of what is in sight: pictures as PNG and SVG, numbers as CSV and NPY.

import { drawingOf } from "./drawing.js";
import { html } from "./dom.js";
import { content } from "./words.js";

const SHARP = 2; // pixels of a PNG for each CSS pixel

/** Puts a menu into a figure that saves it as a picture. */
export function offerPicture(figure, complain) {
  const name = figure.dataset.view;
  const title = figure.querySelector("h2").textContent;
  const ways = {
    PNG: async () => download(await png(drawingOf(figure)), `${name}.png`),
    SVG: async () => download(file(text(drawingOf(figure)), "image/svg+xml"), `${name}.svg`),
  };
  const buttons = Object.entries(ways).map(([kind, save]) => {
    const button = html("button", { type: "button", "aria-label": `Save ${title} as ${kind}` }, kind);
    button.onclick = () => save().catch((error) => complain(error.message));
    return button;
  });
  figure.querySelector("header").append(html("p", { class: "save" }, ...buttons));
}

/** The table in sight as text, one line a row. */
export function csv({ recipe, span, values, rows, columns }) {
  const names = Array.from({ length: columns }, (_, at) => content(recipe, at) || `${recipe.axes.column.name} ${at}`);
  const lines = Array.from({ length: rows }, (_, row) =>
    [span.start + row, ...values.subarray(row * columns, (row + 1) * columns)].join(","),
  );
  return `${[recipe.axes.row.name, ...names].join(",")}\n${lines.join("\n")}\n`;
}

/** The table in sight as NumPy reads it: float32, in rows. */
export function npy({ values, rows, columns }) {
  const words = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${columns}), }`;
  const header = words.padEnd(117) + "\n"; // 10 bytes before it make 128
  const length = new Uint8Array([header.length, 0]);
  return [new Uint8Array([147]), "NUMPY", new Uint8Array([1, 0]), length, header, values];
}

/** Gives a file to the visitor. */
export function download(blob, name) {
  const href = URL.createObjectURL(blob);
  html("a", { href, download: `posenc-${name}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}

/** Parts as a file of a type. */
export function file(parts, type) {
  return new Blob([parts].flat(), { type });
}

function text(drawing) {
  return new XMLSerializer().serializeToString(drawing);
}

async function png(drawing) {
  const [width, height] = ["width", "height"].map((side) => Number(drawing.getAttribute(side)));
  const href = URL.createObjectURL(file(text(drawing), "image/svg+xml"));
  const image = new Image();
  image.src = href;
  await image.decode();
  URL.revokeObjectURL(href);
  const canvas = html("canvas", { width: SHARP * width, height: SHARP * height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done));
}
