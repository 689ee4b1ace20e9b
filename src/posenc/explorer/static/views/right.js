// The table as the library computes it, in the colours of the wrong one.

import { createTable, pair } from "../mistaken.js";

export function create(figure, change) {
  const draw = createTable(figure, change);
  return (scene) => draw(pair(scene).right);
}
