import { tableOf } from "../asking.js";
import { start } from "../main.js";
import { heard } from "../narrowed.js";
import * as errors from "../views/errors.js";
import * as far from "../views/far.js";
import * as holds from "../views/holds.js";
import * as lost from "../views/lost.js";
import * as stairs from "../views/stairs.js";

start({ views: { errors, far, holds, lost, stairs }, asks: fromPosition, spoken: heard });

/** The table from the position on, and what formats leave of the encoding. */
function fromPosition(settings, spec, page) {
  const { position: from } = settings;
  const table = tableOf({ ...settings, from, count: 16, mistake: "" }, spec, page);
  return { main: { table }, answer: { answer: { spec } } };
}
