import { writeRoute } from "../route.ts";

/** The name that selects a pasted file instead of a service of the catalogue. */
export const pasted = "~file";

/** The address of the page that adds a provider: the catalogue, or the form of one service. */
export function addRoute(name = ""): string {
  return writeRoute("providers", null, new URLSearchParams({ add: name }));
}

const made = new Map<string, string>();

/** Keeps a made secret for the next page. It is not stored, and the API does not return it again. */
export function keepSecret(provider: string, secret: string | null): void {
  if (secret !== null) made.set(provider, secret);
}

/** The secret that was just made for a provider, once. */
export function takeSecret(provider: string): string | null {
  const secret = made.get(provider) ?? null;
  made.delete(provider);
  return secret;
}
