import { start } from "../main.js";
import * as reading from "../views/reading.js";
import * as ruler from "../views/ruler.js";
import * as rules from "../views/rules.js";
import * as stretched from "../views/stretched.js";
import * as training from "../views/training.js";

start({ views: { reading, ruler, rules, stretched, training } });
