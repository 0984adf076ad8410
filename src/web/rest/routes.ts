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

/** The pattern of the route that a path belongs to, by any method; null where there is none. */
export type RouteOf = (path: string) => string | null;

/** Finds patterns by comparing text: it is done for every request. */
export function routeFinder(routes: readonly Route[]): RouteOf {
  const paths = new Set(routes.map(({ path }) => path));
  const patterns = [...paths]
    .filter((path) => path.includes("/:"))
    .map((path) => ({ path, start: path.slice(0, path.indexOf("/:") + 1) }));
  return (path) => {
    if (paths.has(path)) return path;
    for (const pattern of patterns) {
      if (path.startsWith(pattern.start) && matches(pattern.path, path)) return pattern.path;
    }
    return null;
  };
}
