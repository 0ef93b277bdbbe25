// Upload: files by button or by dropping them. The server reads them; the page shows the text the server read.

import { extractFile } from "./api.js";
import { byId } from "./dom.js";

/** Listen to the button, the file field and files dropped anywhere. */
export function startUpload(page) {
  const input = byId("file");
  byId("open").onclick = () => input.click();
  input.onchange = () => { if (input.files[0]) read(page, input.files[0]); input.value = ""; };
  let depth = 0;
  const show = (on) => document.body.classList.toggle("dropping", on);
  const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  addEventListener("dragenter", (event) => { if (holdsFiles(event)) { depth += 1; show(true); } });
  addEventListener("dragleave", () => { depth = Math.max(0, depth - 1); if (!depth) show(false); });
  addEventListener("dragover", (event) => holdsFiles(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    depth = 0;
    show(false);
    if (event.dataTransfer.files[0]) read(page, event.dataTransfer.files[0]);
  });
}

function read(page, file) {
  page.openView("read");
  return page.busily(async (signal) => {
    const { docs, took } = await extractFile(file, page.options(), signal);
    if (docs.length) page.showDocument(docs[0], took);
  });
}
