import { queryHeader } from "../../event/stored-headers.ts";

import type { Provider } from "./provider.ts";

const maxQueryLength = 1_024;

/** The part of the URL's query that the provider reads, or null: if it is longer than 1,024 characters, none is kept. */
export function keptQuery(
  { readQuery = [] }: Pick<Provider, "readQuery">,
  url: string,
): string | null {
  const start = url.indexOf("?");
  if (readQuery.length === 0 || start < 0) return null;
  const sent = new URLSearchParams(url.slice(start + 1));
  const read = readQuery.flatMap((name) => {
    const value = sent.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const kept = new URLSearchParams(Object.fromEntries(read)).toString();
  return kept === "" || kept.length > maxQueryLength ? null : kept;
}

/** Looks up what `interpret` reads of a request besides its body. */
export function requestReader(
  provider: Pick<Provider, "readQuery">,
  { headers, url }: { readonly headers: Headers; readonly url: string },
): (name: string) => string | null {
  return (name) => (name === queryHeader ? keptQuery(provider, url) : headers.get(name));
}
