import { useEffect, useState } from "preact/hooks";

import { readRoute, type Route, type View, writeRoute } from "./route.ts";

export function go(view: View, id: string | null = null, query?: URLSearchParams): void {
  location.hash = writeRoute(view, id, query);
}

/** Sets a filter without adding a history entry. An empty value removes it. */
export function filter(route: Route, name: string, value: string): void {
  filterAll(route, { [name]: value });
}

/** Like `filter`, for several filters at once. */
export function filterAll(route: Route, values: Readonly<Record<string, string>>): void {
  const query = new URLSearchParams(route.query);
  for (const [name, value] of Object.entries(values)) {
    if (value === "") query.delete(name);
    else query.set(name, value);
  }
  history.replaceState(null, "", writeRoute(route.view, route.id, query));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute(): Route | null {
  const [route, setRoute] = useState(() => readRoute(location.hash));
  useEffect(() => {
    const follow = () => setRoute(readRoute(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}
