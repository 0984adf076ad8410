/**
 * Path and query of a request, as a URL of this machine. The `Host` header may be anything, or missing
 * (HTTP/1.0): what a client says there must not decide whether its address can be read.
 */
export function urlOf({ url }: Pick<Request, "url">): URL {
  return new URL(`http://localhost${targetOf(url)}`);
}

/** The path of a URL as it was sent, without making a URL: it is asked for every request. */
export function pathOf(url: string): string {
  const target = targetOf(url);
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}

/** What follows the host. */
function targetOf(url: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  return start < 0 ? "/" : url.slice(start);
}
