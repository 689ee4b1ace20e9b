import { tableOf } from "../asking.js";
import { heard, orders } from "../comparing.js";
import { start } from "../main.js";
import * as board from "../views/board.js";
import * as facts from "../views/facts.js";
import * as multiples from "../views/multiples.js";

start({ views: { board, facts, multiples }, asks: ofEveryKind, spoken: heard });

/** The table and the board of each encoding that is compared. */
function ofEveryKind(settings, spec, page) {
  return orders(settings, tableOf(settings, spec, page), page);
}
