import { start } from "../main.js";
import * as clocks from "../views/clocks.js";
import * as odometer from "../views/odometer.js";
import * as turns from "../views/turns.js";

start({ views: { clocks, odometer, turns } });
