// Browsers load no modules from disk, so a folder of pages that was opened there says what to do.
if (location.protocol === "file:") {
  addEventListener("DOMContentLoaded", () => {
    const notice = document.getElementById("notice") ?? document.querySelector(".lead");
    notice.textContent =
      "These pages need a web host: start python -m http.server in their folder, or make one file " +
      "that opens from disk with posenc export FILE.html.";
  });
}
