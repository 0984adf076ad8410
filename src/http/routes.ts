/** A route as Elysia lists it. */
interface Route {
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
