// Share: a link that holds the text itself, compressed, behind the # that is never sent to a server.

const LONGEST = 30000;

/** A link to this page with the text in it, or "" if it would be too long. */
export async function linkOf(text) {
  const packed = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  let letters = "";
  for (const byte of packed) letters += String.fromCharCode(byte);
  const code = btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return code.length > LONGEST ? "" : `${location.origin}${location.pathname}#text=${code}`;
}

/** The text of the link by which the page was opened, or null. */
export async function textOfLink() {
  const code = /^#text=([\w-]+)$/.exec(location.hash)?.[1];
  if (!code) return null;
  try {
    const letters = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    return new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
  } catch {
    return null;
  }
}

async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}
