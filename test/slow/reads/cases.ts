import type { TestApp } from "../../support/app.ts";

import { replay, sentTo, untilMs } from "./rows.ts";

/** A request for one page of a list. */
export interface Case {
  readonly path: string;
  readonly role: "admin" | "operator" | "user";
}

const at = (agoMs: number) => new Date(untilMs - agoMs).toISOString();

/** The values of each filter that takes a text or a time: with many matches, few and none. */
const values: Readonly<Record<string, readonly string[]>> = {
  provider: ["code_host", "payment_processor", "shared_inbox"],
  type: ["push.done", "kind_8", "rare.one", "kind_*", "rare.*", "none*", "*"],
  destination: ["name-3", "name-1", "name-4"],
  subject: ["common/1", "common", "rare/1", "rare", "none"],
  idempotencyKey: ["key:500", "none"],
  q: [
    "deploy",
    "oldest",
    "absent",
    '"failed on main"',
    '"main deploy"',
    '"main failed"',
    '"oldest first"',
    "dep*",
    "SK1",
    "Smith",
    "many@example.com",
    "rare@example.com",
  ],
  actor: ["ada", "rare", "none"],
  action: ["session.opened", "session.*", "provider.added", "event.replayed"],
  userId: ["test-user", "rare", "none"],
  from: [at(3_600_000), at(2e12)],
  to: [at(0), at(2e12)],
  origin: ["LHR"],
  flight: ["SK1", "SK2", "SK3"],
  departsFrom: [at(0), at(-9e10)],
  departsTo: [at(-1e11), at(-2e11)],
};

/** Parameters that page a list, and what the path of a list needs. */
const paging = new Set(["limit", "cursor", "direction", "page", "include"]);
const ids: Readonly<Record<string, readonly string[]>> = {
  "/v1/replays/{id}/failures": [replay],
  "/v1/destinations/{id}/deliveries": Object.values(sentTo),
};
/** Lists that read what a search says and have no other page. */
const others: Readonly<Record<string, string>> = {
  "/v1/api/flights": "origin=LHR&destination=JFK&departureDate=2026-11-22",
};

/** What the API rejects: an end before the start, and the state `none` at a destination. */
const impossible = /from=2026.*to=19|delivery=none.*destination=/;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema?: { readonly enum?: readonly string[] };
}

/** What counts all that waits, and every list of the API with each of its filters, each two of them, and each way to page. */
export async function cases(app: TestApp): Promise<readonly Case[]> {
  // Guarantee: the document is of the shape that OpenAPI defines.
  const document = (await (await app.fetch("/openapi.json")).json()) as {
    readonly paths: Readonly<
      Record<string, { readonly get?: { readonly parameters?: readonly Parameter[] } }>
    >;
  };
  const counts = ["/metrics", "/v1/statistics/health", "/v1/issues"];
  const lists = Object.entries(document.paths).flatMap<Case>(([path, { get }]) => {
    const parameters = get?.parameters ?? [];
    if (!parameters.some(({ name }) => name === "limit")) return [];
    const base = others[path];
    if (base !== undefined) return [{ path: `${path}?${base}`, role: "user" as const }];
    const filters = parameters.filter(
      ({ name, in: place }) => place === "query" && !paging.has(name),
    );
    const queries = combinationsOf(path, filters)
      .map((query) => ["limit=100", ...query].join("&"))
      .filter((query) => !impossible.test(query));
    const pages = ["limit=100&direction=backward", "limit=100&page=100"];
    return (ids[path] ?? [""]).flatMap((id) =>
      [...queries, ...pages].map((query) => ({
        path: `${path.replace("{id}", id)}?${query}`,
        role: id === sentTo.manyOfUser ? ("user" as const) : ("admin" as const),
      })),
    );
  });
  return [...lists, ...counts.map((path) => ({ path, role: "operator" as const }))];
}

function combinationsOf(
  path: string,
  filters: readonly Parameter[],
): readonly (readonly string[])[] {
  const each = filters.map(({ name, schema }) => {
    const isAirport = name === "destination" && path.startsWith("/v1/api/");
    const given = schema?.enum ?? (isAirport ? ["JFK"] : values[name]);
    if (given === undefined) throw new Error(`cases.ts has no values for the filter ${name}`);
    return given.map((value) => `${name}=${encodeURIComponent(value)}`);
  });
  const single = each.flat().map((query) => [query]);
  const pairs = each.flatMap((firsts, index) =>
    each
      .slice(index + 1)
      .flatMap((seconds) => firsts.flatMap((one) => seconds.map((other) => [one, other]))),
  );
  return [[], ...single, ...pairs];
}
