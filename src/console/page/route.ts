import { useEffect, useState } from "preact/hooks";

export const views = ["events", "refused", "health", "providers", "flights", "bookings"] as const;
export type View = (typeof views)[number];

/** Where in the console somebody is: all of it stands in the address, so that it can be shared. */
export interface Route {
  readonly view: View;
  /** What is open beside the list; null for none. */
  readonly id: string | null;
  /** Filters. */
  readonly query: URLSearchParams;
}

/** `#/events/evt_1?provider=code_host`; without any path the first view. Null where there is no such page. */
export function readRoute(hash: string): Route | null {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [name = "", id = ""] = path.split("/");
  // A one-time code is taken out of the address, and names no page.
  const isNone = name === "" || name.startsWith("code=");
  const view = isNone ? "events" : views.find((known) => known === name);
  if (view === undefined) return null;
  return { view, id: id === "" ? null : decoded(id), query: new URLSearchParams(search) };
}

export function writeRoute(view: View, id: string | null = null, query?: URLSearchParams): string {
  const search = query?.toString() ?? "";
  return `#/${view}${id === null ? "" : `/${encodeURIComponent(id)}`}${search && `?${search}`}`;
}

export function go(view: View, id: string | null = null, query?: URLSearchParams): void {
  location.hash = writeRoute(view, id, query);
}

/** The same without a new entry in the history: for filters as they are typed. */
export function filter(route: Route, name: string, value: string): void {
  const query = new URLSearchParams(route.query);
  if (value === "") query.delete(name);
  else query.set(name, value);
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

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
