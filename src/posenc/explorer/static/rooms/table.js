import { oneTable } from "../asking.js";
import { start } from "../main.js";
import * as cut from "../views/cut.js";
import * as difference from "../views/difference.js";
import * as matrix from "../views/matrix.js";
import * as vector from "../views/vector.js";

start({ views: { cut, difference, matrix, vector }, asks: withPinned });

/** The table, and that of the settings which were pinned. */
function withPinned(settings, spec, page) {
  const orders = oneTable(settings, spec, page);
  if (!settings.pin) return orders;
  return { ...orders, pinned: { table: { ...orders.main.table, ...pinned(settings.pin) } } };
}

/** What is pinned: the encoding, and the mistake if there is one. */
function pinned(text) {
  try {
    const { mistake = "", ...spec } = JSON.parse(text);
    return { spec, mistake };
  } catch {
    return { spec: text }; // the library says what is wrong with it
  }
}
