import { start } from "../main.js";
import * as alikes from "../views/alikes.js";
import * as gram from "../views/gram.js";
import * as likeness from "../views/likeness.js";

start({ views: { alikes, gram, likeness }, spoken: gram.compared });
