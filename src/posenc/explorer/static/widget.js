// The notebook's side of a room: a frame with its page, and questions passed on to the kernel. In
// the frame neither the notebook's style nor its script can disturb the page, nor the page them.

export default { render };

const PART = 2 ** 22; // bytes of a file that go in one message; Jupyter ends the line at ten MiB

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "posenc explorer";
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.allow = "clipboard-write";
  let known = model.get("settings"); // by the page
  frame.name = known; // the page begins where it was left
  frame.srcdoc = model.get("page");
  Object.assign(frame.style, {
    display: "block",
    width: "calc(100% - 2px)",
    height: "60rem",
    // As high as all its pictures it would leave the settings far above them, and marimo cuts
    // outputs off that are higher.
    maxHeight: "35rem",
    border: "1px solid color-mix(in srgb, currentcolor 20%, transparent)",
  });
  const tell = (message) => frame.contentWindow?.postMessage(message, "*");

  const fromPage = ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    if ("question" in data) ask(model, data);
    if ("height" in data) frame.style.height = `${data.height}px`;
    if ("settings" in data) {
      known = data.settings;
      model.set("settings", known);
      model.save_changes();
    }
  };
  const fromKernel = (content, buffers) => {
    if ("answers" in content) tell({ ...content, body: buffers[0] });
  };
  // Python can set them, and the same widget elsewhere in the notebook.
  const fromOthers = () => {
    const settings = model.get("settings");
    if (settings === known) return;
    known = settings;
    frame.name = settings;
    tell({ settings });
  };
  addEventListener("message", fromPage);
  model.on("msg:custom", fromKernel);
  model.on("change:settings", fromOthers);
  el.append(frame);
  const unwatch = followTheme(frame);
  return () => {
    unwatch();
    removeEventListener("message", fromPage);
    model.off("msg:custom", fromKernel);
    model.off("change:settings", fromOthers);
  };
}

/** Passes a question on, and in parts the file that it is about. */
function ask(model, { body, ...question }) {
  const parts = body ? Math.max(Math.ceil(body.byteLength / PART), 1) : 0;
  if (!parts) model.send(question);
  for (let part = 0; part < parts; part += 1) {
    const bytes = new DataView(body.slice(part * PART, (part + 1) * PART));
    model.send({ ...question, part, parts }, undefined, [bytes]);
  }
}

/**
 * Keeps the frame light or dark as the notebook is, whose theme can differ from the system's; its
 * text tells. A frame has a colour once it stands in the notebook, which is when it gets its size;
 * and a change of colour ends a transition.
 */
function followTheme(frame) {
  const follow = () => {
    frame.style.colorScheme = isLight(getComputedStyle(frame).color) ? "dark" : "light";
  };
  frame.style.transition = "color 1ms";
  frame.ontransitionend = follow;
  const placed = new ResizeObserver(follow);
  placed.observe(frame);
  return () => placed.disconnect();
}

/** Whether a colour, in whatever way it is written, is nearer to white than to black. */
function isLight(colour) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue] = pen.getImageData(0, 0, 1, 1).data;
  return red + green + blue > (3 * 255) / 2;
}
