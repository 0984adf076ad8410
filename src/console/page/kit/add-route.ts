import { writeRoute } from "./route.ts";

/** The name that selects a pasted file instead of a service of the catalogue. */
export const pasted = "~file";

/** The address of the page that adds a provider: the catalogue, or the form of one service. */
export function addRoute(name = ""): string {
  return writeRoute("providers", null, new URLSearchParams({ add: name }));
}
