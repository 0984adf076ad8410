/** The views by what they are about, in the order of the navigation. */
export const viewGroups = [
  ["Status", ["issues", "health"]],
  ["Traffic", ["events", "rejections", "replays"]],
  ["Set-up", ["providers", "destinations"]],
  ["Sales", ["flights", "bookings", "people"]],
  ["Security", ["audit", "access"]],
] as const;
export const views = viewGroups.flatMap(([, group]) => group);
export type View = (typeof views)[number];

/** The current location in the console. All of it is in the address, so that links can be shared. */
export interface Route {
  readonly view: View;
  /** The open item; null if none is open. */
  readonly id: string | null;
  /** Filters. */
  readonly query: URLSearchParams;
}

/**
 * Parses `#/events/evt_1?provider=code_host`. Without a path: the first view. Null if the view is unknown.
 */
export function readRoute(hash: string): Route | null {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [name = "", id = ""] = path.split("/");
  // `#code=…` is a one-time code, which sign-in removes from the address.
  const isEmpty = name === "" || name.startsWith("code=");
  const view = isEmpty ? "issues" : views.find((known) => known === name);
  if (view === undefined) return null;
  return { view, id: id === "" ? null : decoded(id), query: new URLSearchParams(search) };
}

export function writeRoute(view: View, id: string | null = null, query?: URLSearchParams): string {
  const search = query?.toString() ?? "";
  return `#/${view}${id === null ? "" : `/${encodeURIComponent(id)}`}${search && `?${search}`}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** In place of an id: the page that adds a provider. No provider can have this name. */
export const newId = "new";

/** The name that selects a pasted file instead of a service of the catalogue. */
export const pastedFile = "~file";

/** The address of the page that adds a provider: the catalogue, or the form of one service. */
export function addRoute(name = ""): string {
  return writeRoute("providers", newId, new URLSearchParams(name === "" ? {} : { service: name }));
}
