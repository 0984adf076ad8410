/** A route as Elysia lists it. */
export interface Route {
  readonly method: string;
  readonly path: string;
}

/** The methods that some route takes at exactly this path; empty where there is none. */
export function allowedMethods(routes: readonly Route[], path: string): readonly string[] {
  const methods = routes.filter((route) => matches(route.path, path)).map(({ method }) => method);
  // HEAD is answered wherever GET is (RFC 9110 section 9.3.2).
  return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])))];
}

function matches(pattern: string, path: string): boolean {
  const expected = pattern.split("/");
  const actual = path.split("/");
  return (
    expected.length === actual.length &&
    expected.every((part, index) =>
      part.startsWith(":") ? actual[index] !== "" : part === actual[index],
    )
  );
}

/** The pattern of the route that a URL's path belongs to, by any method; null where there is none. */
export type RouteOf = (url: string) => string | null;

/** Finds patterns by comparing text, without making a URL: it is done for every request. */
export function routeFinder(routes: readonly Route[]): RouteOf {
  const paths = new Set(routes.map(({ path }) => path));
  const patterns = [...paths]
    .filter((path) => path.includes("/:"))
    .map((path) => ({ path, start: path.slice(0, path.indexOf("/:") + 1) }));
  return (url) => {
    const path = pathOf(url);
    if (paths.has(path)) return path;
    for (const pattern of patterns) {
      if (path.startsWith(pattern.start) && matches(pattern.path, path)) return pattern.path;
    }
    return null;
  };
}

/** The path of a URL, as it was sent. */
export function pathOf(url: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  if (start < 0) return "/";
  const query = url.indexOf("?", start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}
