// Runs before the first paint, so that the page never flashes in the other theme.
{
  const root = document.documentElement;
  root.dataset.theme = "auto";
  try {
    const chosen = localStorage.getItem("posenc-theme");
    if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  } catch {
    // storage can be forbidden
  }
}
