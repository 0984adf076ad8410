/**
 * Like `fetch`, but asks for no compression and decompresses nothing. Bun decompresses ahead of the reader, so that a response of
 * a few kilobytes can take hundreds of megabytes of memory. Read the response with `responseText`.
 */
export function plainFetch(url: string | URL, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("accept-encoding", "identity");
  return fetch(url, { ...init, headers, decompress: false });
}
