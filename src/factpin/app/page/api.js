// Api: every request of the page. Documents come in and go out through offsets.js.

import { fromServer, toServer } from "./offsets.js";

/** An error of the server, with the words it gave. */
export class ServerError extends Error {
  constructor(status, kind, message) {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}

let token = "";
let askToken = async () => "";

/** How to get a token when the server wants one: a function that asks the user. */
export function onTokenNeeded(ask) {
  askToken = ask;
}

async function send(path, given = {}, again = true) {
  const headers = { ...given.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  let answer;
  try {
    answer = await fetch(path, { ...given, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError(0, "Offline", "");
  }
  if (answer.ok) return answer;
  if (answer.status === 401 && again) {
    token = await askToken(token !== "");
    if (token) return send(path, given, true);
  }
  throw await errorOf(answer);
}

async function errorOf(answer) {
  try {
    const { error } = await answer.json();
    return new ServerError(answer.status, error.kind, error.message);
  } catch {
    return new ServerError(answer.status, "Internal", `${answer.status} ${answer.statusText}`);
  }
}

const read = async (path) => (await send(path)).json();

function post(path, body, signal) {
  return send(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
}

/** What the server has: models, formats, limits, whether there is a store. */
export const models = () => read("v1/models");

const EVERYTHING = { min_score: 0, mark_unsure: true }; // the page filters

/** A text read by the models: {doc, took}. */
export async function extract(text, options, signal) {
  const answer = await (await post("v1/extract", { text, options: { ...options, ...EVERYTHING } }, signal)).json();
  return { doc: fromServer(answer.documents[0]), took: answer.took_ms };
}

/** A file read by the server and the models: {docs, took}. */
export async function extractFile(file, options, signal, column = "") {
  const form = new FormData();
  form.append("file", file, file.name);
  form.append("options", JSON.stringify({ ...options, ...EVERYTHING }));
  if (column) form.append("column", column);
  const answer = await (await send("v1/files", { method: "POST", body: form, signal })).json();
  return { docs: answer.documents.map(fromServer), took: answer.took_ms };
}

/** Documents in another format: {blob, name, lost}. Refused with the kind FormatLoss unless `lossy`. */
export async function convert(docs, to, lossy) {
  const answer = await post("v1/convert", { documents: docs.map(toServer), to, lossy });
  const name = /filename="?([^";]+)"?/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "";
  return { blob: await answer.blob(), name, lost: answer.headers.get("X-Factpin-Lost") ?? "" };
}

/** An answer from the store. */
export const ask = async (question, asOf, signal) =>
  (await post("v1/ask", { question, explain: true, ...(asOf ? { as_of: asOf } : {}) }, signal)).json();

/** A list or an item of the store: store("facts", {head: "…"}); without a name, its counts and relations. */
export function store(what = "", query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== undefined && value !== null);
  const search = new URLSearchParams(given).toString();
  return read(`v1/store${what ? `/${what}` : ""}${search ? `?${search}` : ""}`);
}

const stored = new Map();

/** A document of the store by its uri: {source, doc, facts}. The last few are kept. */
export async function storedDocument(uri) {
  if (!stored.has(uri)) {
    const { source, document: record, facts } = await store("document", { uri });
    stored.set(uri, { source, doc: fromServer(record), facts });
    if (stored.size > 20) stored.delete(stored.keys().next().value);
  }
  return stored.get(uri);
}

/** Mark a fact of the store as right or wrong; `undo` takes it back. */
export const judge = (verdict, fact, undo) => post(`v1/store/${verdict}`, { fact, undo });
