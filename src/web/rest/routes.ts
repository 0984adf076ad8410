/** An entry of Elysia's route list. */
export interface Route {
  readonly method: string;
  readonly path: string;
}

/** Elysia's name for a route that handles every method. */
const anyMethod = "ALL";

/** The methods of all routes that match this path; empty if no route matches. */
export function allowedMethods(routes: readonly Route[], path: string): readonly string[] {
  return methodsOf(routes.filter((route) => matches(route.path, path)));
}

/** The methods that at least one of the routes supports. */
export function methodsOf(routes: readonly Route[]): readonly string[] {
  const methods = routes.map(({ method }) => method).filter((method) => method !== anyMethod);
  // Every GET route also supports HEAD (RFC 9110 section 9.3.2).
  return [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])))];
}

function matches(pattern: string, path: string): boolean {
  const expected = pattern.split("/");
  const actual = path.split("/");
  const isRest = expected.at(-1) === "*";
  return (
    (isRest ? expected.length <= actual.length : expected.length === actual.length) &&
    expected.every((part, index) =>
      part.startsWith(":") ? actual[index] !== "" : part === "*" || part === actual[index],
    )
  );
}

/** Starts what a route leaves open: a parameter, or all the rest. */
const openPart = /\/[:*]/;

/** Returns the pattern of the route that matches a path, for any method; null if none matches. */
export type RouteOf = (path: string) => string | null;

/** Runs on every request, so it compares strings instead of building URLs or regular expressions. */
export function routeFinder(routes: readonly Route[]): RouteOf {
  const paths = [...new Set(routes.map(({ path }) => path))];
  const fixed = new Set(paths.filter((path) => !openPart.test(path)));
  const patterns = paths
    .filter((path) => openPart.test(path))
    .map((path) => ({ path, start: path.slice(0, path.search(openPart) + 1) }));
  return (path) => {
    if (fixed.has(path)) return path;
    for (const { path: route, start } of patterns) {
      if (path.startsWith(start) && matches(route, path)) return route;
    }
    return null;
  };
}
