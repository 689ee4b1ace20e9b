// Light or dark: as the system has it, as the reader chose, and always light on paper.

const root = document.documentElement;
const darkness = matchMedia("(prefers-color-scheme: dark)");
let printing = false;

/** "light" or "dark", whichever is on the screen now. */
export function theme() {
  if (printing) return "light";
  const chosen = root.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return darkness.matches ? "dark" : "light";
}

/** Connects the switch; `changed` is called, and must act at once, when `theme` has changed. */
export function watch(changed) {
  for (const radio of document.querySelectorAll('input[name="theme"]')) {
    radio.checked = radio.value === root.dataset.theme;
    radio.onchange = () => {
      root.dataset.theme = radio.value;
      try {
        localStorage.setItem("posenc-theme", radio.value);
      } catch {
        // Storage can be forbidden; the choice then lasts as long as the page.
      }
      changed();
    };
  }
  darkness.onchange = changed;
  for (const [event, begins] of Object.entries({ beforeprint: true, afterprint: false })) {
    addEventListener(event, () => {
      printing = begins;
      changed();
    });
  }
}
