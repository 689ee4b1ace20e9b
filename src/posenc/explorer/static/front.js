// The front page has no pictures: only the switch of the theme needs a script.

import { watch } from "./appearance.js";

watch(() => {});
