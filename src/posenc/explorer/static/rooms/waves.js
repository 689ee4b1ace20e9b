import { start } from "../main.js";
import * as matrix from "../views/matrix.js";
import * as vector from "../views/vector.js";
import * as waves from "../views/waves.js";

start({ views: { matrix, vector, waves } });
