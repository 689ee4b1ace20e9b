import { tableOf } from "../asking.js";
import { start } from "../main.js";
import { mistakenOrders } from "../mistaken.js";
import * as astray from "../views/astray.js";
import * as catalogue from "../views/catalogue.js";
import * as riddle from "../views/riddle.js";
import * as right from "../views/right.js";
import * as symptom from "../views/symptom.js";
import * as wrong from "../views/wrong.js";

start({ views: { astray, catalogue, riddle, right, symptom, wrong }, asks: rightAndWrong });

/** The right table and the wrong one, which a riddle hides in its answer. */
function rightAndWrong(settings, spec, page) {
  return mistakenOrders(tableOf(settings, spec, page), settings);
}
