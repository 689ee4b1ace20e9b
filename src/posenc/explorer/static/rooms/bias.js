import { oneTable } from "../asking.js";
import { start } from "../main.js";
import { encoding } from "../state.js";
import * as lines from "../views/lines.js";
import * as matrix from "../views/matrix.js";
import * as reach from "../views/reach.js";
import * as scores from "../views/scores.js";
import * as slopes from "../views/slopes.js";

start({ views: { lines, matrix, reach, scores, slopes }, asks: unmasked });

/** Beside the table, where there is no mask, that of an encoding that hides no keys by itself. */
function unmasked(settings, spec, page) {
  const orders = oneTable(settings, spec, page);
  const { options } = page.room.controls.find(({ name }) => name === "mask");
  const { instead } = options.find(({ value }) => value === settings.mask);
  if (!instead || settings.mistake) return orders;
  const opened = { ...settings };
  for (const [name, values] of Object.entries(instead)) opened[name] = values[settings[name]] ?? settings[name];
  return { ...orders, open: { table: { ...orders.main.table, spec: encoding(opened, page) } } };
}
