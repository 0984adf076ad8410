import { beforeAll, describe, expect, test } from "bun:test";

import fc from "fast-check";

import { postQuery } from "../../support/graphql.ts";
import { leastMs } from "../../support/processor-time.ts";
import { appForAll } from "../../support/running-app.ts";
import { forAllAsync } from "../../support/runs.ts";

const app = appForAll();
let made = 0;
let plainMs = 0;
/** One document may take this many times the processor time of a plain one, which takes some 4 ms. */
const most = 50;
beforeAll(async () => {
  plainMs = await leastMs(() => requests.POST(unseen("{ flights { nodes { id } } }")));
});
/** Not in the document cache. */
const unseen = (query: string) => `${query} #${(made += 1)}`;

/** With a token: without one, the budget of the address would soon reject all documents unread. */
const requests = {
  POST: (query: string, variables: Record<string, unknown> = {}) =>
    app.as("operator", "/graphql", postQuery(query, variables)),
  GET: (query: string) =>
    app.as("operator", `/graphql?${new URLSearchParams({ query }).toString()}`),
} as const;

/** Sends a request, checks what it costs, and returns its status. */
async function statusOf(send: () => Promise<Response>): Promise<number> {
  let status = 0;
  const ms = await leastMs(async () => {
    const response = await send();
    await response.text();
    status = response.status;
  }, most * plainMs);
  expect(ms / plainMs).toBeLessThanOrEqual(most);
  return status;
}

const repeat = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join(" ");

/** Selections of a fragment: spreads of any fragment, itself included, also below fields. */
const selections = (count: number) => {
  const spread = fc.integer({ min: 0, max: count }).map((index) => `...F${index}`);
  const next = fc.constant("...NEXT ...NEXT");
  const field = spread.map((below) => `a: node(id: "x") { ... on Flight { ${below} } }`);
  const page = spread.map((below) => `flights(first: $n) { nodes { id ${below} } }`);
  const leaf = fc.constant("__typename");
  return fc.array(
    fc.oneof(
      { weight: 4, arbitrary: next },
      { weight: 4, arbitrary: spread },
      { weight: 2, arbitrary: leaf },
      { weight: 1, arbitrary: field },
      { weight: 1, arbitrary: page },
    ),
    { minLength: 1, maxLength: 3 },
  );
};
const documents = fc
  .integer({ min: 1, max: 400 })
  .chain((count) =>
    fc
      .array(selections(count), { minLength: count, maxLength: count })
      .map((fragments) =>
        [
          "query ($n: Int) { ...F0 }",
          ...fragments.map(
            (found, index) =>
              `fragment F${index} on Query { ${found.join(" ").replaceAll("NEXT", `F${index + 1}`)} }`,
          ),
          `fragment F${count} on Query { __typename }`,
        ].join(" "),
      ),
  );

describe("a hostile document costs little time", () => {
  test.each(["POST", "GET"] as const)(
    "with any spreads of fragments, sent by %s [API4-12]",
    async (method) => {
      await forAllAsync(60, [documents], async (query) => {
        expect(await statusOf(() => requests[method](unseen(query)))).toBeLessThan(500);
      });
    },
  );

  const doubled = (count: number, leaf: string) =>
    `query ($n: Int) { ...F0 } ${repeat(count, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F${count} on Query { ${leaf} }`;
  const onBookings = (fragments: string) => `{ bookings { nodes { ...F0 } } } ${fragments}`;
  test.each([
    ["fragments that double", doubled(60, "__typename")],
    ["fragments that double a page", doubled(60, "flights(first: $n) { nodes { id } }")],
    ["as many as there is room for", doubled(180, "__typename")],
    [
      "fields that double by fragments",
      onBookings(
        `${repeat(60, (n) => `fragment F${n} on Booking { changes { booking { ...F${n + 1} ...F${n + 1} } } }`)} fragment F60 on Booking { id }`,
      ),
    ],
    [
      "a circle",
      `{ ...F0 } ${repeat(150, (n) => `fragment F${n} on Query { ...F${(n + 1) % 150} ...F${(n + 7) % 150} }`)}`,
    ],
    [
      "all fragments beside each other",
      `{ ${repeat(150, (n) => `...F${n}`)} } ${doubled(140, "__typename").slice(24)}`,
    ],
    ["one field many times", `{ ${repeat(1_990, () => "__typename")} }`],
    ["one list many times", `{ ${repeat(280, () => "flights { nodes { id } }")} }`],
    [
      "one list many times, deep",
      `{ ${repeat(110, () => "bookings { nodes { changes { booking { changes { kind } } } } }")} }`,
    ],
    ["many unknown fields", `{ ${repeat(1_900, (n) => `flihgt${n}`)} }`],
    ["many unknown arguments", `{ flight(${repeat(480, (n) => `zzzz${n}: 1`)}) { id } }`],
    ["many unused variables", `query (${repeat(400, (n) => `$a${n}: Int`)}) { __typename }`],
    ["many operations", repeat(330, (n) => `query A${n} { __typename }`)],
    ["many aliases", `{ ${repeat(600, (n) => `a${n}: __typename`)} }`],
    ["many directives", `{ __typename ${repeat(400, () => "@skip(if: false)")} }`],
    ["thousands of directives", `{ __typename ${repeat(5_000, () => "@skip(if: false)")} }`],
    ["deep fields", `{ ${"node { ".repeat(10_000)}`],
    ["deep fragments", `{ ${"... { ".repeat(600)} __typename ${"} ".repeat(601)}`],
    ["deep lists", `{ flight(flightId: ${"[".repeat(900)}1${"]".repeat(900)}) { id } }`],
    ["deep unclosed lists", `{ flight(flightId: ${"[".repeat(90_000)}`],
    ["deep objects", `{ flight(flightId: ${"{a: ".repeat(480)}1${"}".repeat(480)}) { id } }`],
    ["a deep type", `query ($a: ${"[".repeat(900)}Int${"]".repeat(900)}) { __typename }`],
    ["a long string", `{ flight(flightId: "${"x".repeat(95_000)}") { id } }`],
    ["a long block string", `{ flight(flightId: """${"\\n x ".repeat(18_000)}""") { id } }`],
    ["a long name", `{ ${"f".repeat(95_000)} }`],
    ["a long number", `{ flight(flightId: ${"9".repeat(95_000)}) { id } }`],
    ["long comments", `{ __typename ${"#\n".repeat(45_000)} }`],
    [
      "circular introspection",
      `{ __schema { types { ${"fields { type { ".repeat(100)} name ${"} } ".repeat(100)} } } }`,
    ],
    [
      "introspection through fragments",
      `{ __schema { types { ...F0 } } } ${repeat(120, (n) => `fragment F${n} on __Type { ofType { ...F${n + 1} ...F${n + 1} } }`)} fragment F120 on __Type { name }`,
    ],
    [
      "introspection through aliases",
      `{ ${repeat(15, (n) => `a${n}: __schema { types { ...T fields { ...F type { ...T fields { ...F type { ...T } } } } } }`)} }
       fragment F on __Field { name description isDeprecated args { name description defaultValue type { ...T } } }
       fragment T on __Type { name description kind enumValues { name description } ofType { name kind description ofType { name kind description } } }`,
    ],
  ])("%s", async (_, query) => {
    for (const method of ["POST", "GET"] as const) {
      expect(await statusOf(() => requests[method](unseen(query)))).toBeLessThan(500);
    }
  });

  const nested = (levels: number, open: string, close: string): unknown =>
    `{"query":"query ($ids: [ID!]!) { nodes(ids: $ids) { id } }","variables":{"ids":${open.repeat(levels)}1${close.repeat(levels)}}}`;
  test.each([
    ["lists in variables", nested(20_000, "[", "]")],
    ["objects in variables", nested(15_000, '{"a":', "}")],
    ["lists instead of a query", `{"query":${"[".repeat(45_000)}${"]".repeat(45_000)}}`],
  ])("answers 400 to deeply nested %s", async (_, body) => {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: String(body) };
    expect(await statusOf(() => app.as("operator", "/graphql", init))).toBe(400);
  });
});
