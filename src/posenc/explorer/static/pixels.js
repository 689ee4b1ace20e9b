// Colours of the page as canvases take them.

/** A colour such as "#f4f3f0" as one 32-bit number of an image. */
export function pixel(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return new Uint32Array(new Uint8Array([red, green, blue, 255]).buffer)[0];
}

/** Draws one 32-bit number a cell, row by row. */
export function paint(canvas, pixels, columns) {
  const rows = pixels.length / columns;
  Object.assign(canvas, { width: columns, height: rows });
  const image = new ImageData(new Uint8ClampedArray(pixels.buffer), columns, rows);
  canvas.getContext("2d").putImageData(image, 0, 0);
}
