/**
 * Path and query of a request, as a URL of this machine. The `Host` header may be anything, or missing
 * (HTTP/1.0): what a client says there must not decide whether its address can be read.
 */
export function urlOf({ url }: Pick<Request, "url">): URL {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  return new URL(`http://localhost${start < 0 ? "/" : url.slice(start)}`);
}
