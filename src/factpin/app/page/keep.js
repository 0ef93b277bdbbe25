// Keep: corrections and kept documents in IndexedDB, so that a reload loses nothing.

import { replay } from "./edit.js";

let opened = null;

function database() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("factpin", 1);
    request.onupgradeneeded = () => { request.result.createObjectStore("work"); request.result.createObjectStore("kept", { keyPath: "key" }); };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opened;
}

async function run(name, mode, act) {
  try {
    const store = (await database()).transaction(name, mode).objectStore(name);
    return await new Promise((resolve, reject) => { const request = act(store); request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error); });
  } catch {
    return undefined; // private windows may have no database; the page works without
  }
}

/** Keep the corrections of the document that is open; without corrections there is nothing to keep. */
export const keepWork = (history) =>
  run("work", "readwrite", (s) => (history?.operations.length ? s.put({ doc: history.docs[0], operations: history.operations, at: history.at }, "now") : s.delete("now")));

/** The corrections that were under way when the page was closed, as a history, or null. */
export async function keptWork() {
  const work = await run("work", "readonly", (s) => s.get("now"));
  return work ? replay(work.doc, work.operations, work.at) : null;
}

/** Keep a corrected document for training; the same text again replaces it. */
export const keepDocument = (doc) => run("kept", "readwrite", (s) => s.put({ key: doc.text, doc }));
export const keptDocuments = async () => ((await run("kept", "readonly", (s) => s.getAll())) ?? []).map((row) => row.doc);
export const dropDocument = (doc) => run("kept", "readwrite", (s) => s.delete(doc.text));

/** Forget everything. */
export async function forgetAll() {
  await run("work", "readwrite", (s) => s.clear());
  await run("kept", "readwrite", (s) => s.clear());
}
