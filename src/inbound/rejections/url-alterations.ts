import type { TextScheme } from "../signatures/scheme.schema.ts";
import { signsUrl } from "../signatures/scheme.ts";
import type { SignedRequest } from "../signatures/signed-request.ts";

import type { Explanation } from "./explanation.ts";

/** The URLs that a provider may have signed instead of the one received. Empty if the scheme signs no URL. */
export function alteredUrls(
  scheme: TextScheme,
  { url, headers }: SignedRequest,
): readonly string[] {
  const received = URL.parse(url);
  if (received === null || !signsUrl(scheme)) return [];
  const [host, forwarded] = [headers.get("host"), headers.get("x-forwarded-host")];
  const hosts = [received.host, host, forwarded].filter((name) => name !== null);
  const rest = url.slice(url.indexOf("/", url.indexOf("//") + 2));
  const paths = [rest, withSlash(rest), rest.replace(/\?.*$/s, "")];
  const all = hosts.flatMap((name) =>
    ["https", "http"].flatMap((scheme) => paths.map((path) => `${scheme}://${name}${path}`)),
  );
  const withoutPort = all.map((each) => each.replace(/:\d+(?=\/)/, ""));
  return [...new Set([...all, ...withoutPort])].filter((each) => each !== url);
}

/** The path with a slash at its end, or without it. */
function withSlash(rest: string): string {
  const [path = "", ...query] = rest.split("?");
  const other = path.endsWith("/") ? path.slice(0, -1) : `${path}/`;
  return [other, ...query].join("?");
}

export function urlChanged(signed: string, received: string): Explanation {
  return {
    cause: "url-changed",
    detail: `The webhook verifies with the URL ${shown(signed)} instead of ${shown(received)}. Set PUBLIC_URL to the base URL that is entered at the provider, or enter the URL there as Skyhook receives it.`,
  };
}

/** Without the query, which may hold a key. */
function shown(url: string): string {
  return url.replace(/\?.*$/s, "?…");
}
