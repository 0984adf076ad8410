/**
 * Parses the path and query of a request, with `localhost` as the host. `Host` may be missing (HTTP/1.0) or
 * invalid, which must not make the URL unreadable.
 */
export function urlOf({ url }: Pick<Request, "url">): URL {
  return new URL(`http://localhost${targetOf(url)}`);
}

/** The raw path of a URL. Runs on every request, so it does not construct a URL. */
export function pathOf(url: string): string {
  const target = targetOf(url);
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}

/** The raw path and query of a URL, without scheme and host. */
export function targetOf(url: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  return start < 0 ? "/" : url.slice(start);
}
