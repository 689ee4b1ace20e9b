// The notebook's side of a room: a frame with its page, and questions passed on to the kernel. In
// the frame neither the notebook's style nor its script can disturb the page, nor the page them.

export default { render };

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "posenc explorer";
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.allow = "clipboard-write";
  frame.name = model.get("settings"); // the page begins where it was left
  frame.srcdoc = model.get("page");
  Object.assign(frame.style, { width: "100%", height: "60rem", border: "0", colorScheme: scheme(el) });

  const fromPage = ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    if ("question" in data) model.send(data);
    if ("height" in data) frame.style.height = `${data.height}px`;
    if ("settings" in data) {
      model.set("settings", data.settings);
      model.save_changes();
    }
  };
  const fromKernel = (content, buffers) => {
    if ("answers" in content) frame.contentWindow?.postMessage({ ...content, body: buffers[0] }, "*");
  };
  addEventListener("message", fromPage);
  model.on("msg:custom", fromKernel);
  el.append(frame);
  return () => {
    removeEventListener("message", fromPage);
    model.off("msg:custom", fromKernel);
  };
}

/** Light or dark as the notebook is, whose themes can differ from the system's: its text tells. */
function scheme(el) {
  const [red, green, blue] = getComputedStyle(el).color.match(/[\d.]+/g).map(Number);
  return red + green + blue > (3 * 255) / 2 ? "dark" : "light";
}
