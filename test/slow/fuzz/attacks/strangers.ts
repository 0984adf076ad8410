import { getIntrospectionQuery } from "graphql";

import type { Victim } from "../victim.ts";

import { answered, type Attack, flood, mebibyte, post } from "./attack.ts";

/** One client, who sends as fast as it is answered. */
interface StrangerAttack extends Pick<Attack, "name" | "about"> {
  readonly connections: number;
  /** As an operator, at `/mcp`; otherwise without a token, from one address. */
  readonly isAgent?: boolean;
  /** The path, and the body if it is not read. `n` counts the requests. */
  readonly request: (n: number) => readonly [path: string, body?: unknown];
}

const attackMs = 8_000;
const patienceMs = 15_000;
/** Garbage of queries and their responses, until the budget ends. */
const garbageBytes = 256 * mebibyte;
const address = { "x-forwarded-for": "192.0.2.77" };

const inDays = (days: number) =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const route = "origin=AMS&destination=CDG";
/** Below the limit of aliases. */
const fifteen = (field: string) =>
  `{ ${Array.from({ length: 15 }, (_, n) => `a${n}: ${field}`).join(" ")} }`;
const graphql = (query: string) => ["/graphql", { query }] as const;
const graphqlCalendar = () =>
  `flightCalendar(origin: "AMS", destination: "CDG", from: "${inDays(10)}", to: "${inDays(71)}") { days { date } }`;
const message = (method: string) => ({ jsonrpc: "2.0", id: 1, method, params: {} });

const table: readonly StrangerAttack[] = [
  {
    name: "one-introspecting",
    about: "15 aliases of all types, fields and arguments",
    connections: 1,
    request: () => graphql(fifteen("__schema { types { fields { args { name } } } }")),
  },
  {
    name: "many-introspecting",
    about: "the introspection of tools on 16 connections, each a new text",
    connections: 16,
    request: (n) => graphql(`# ${n}\n${getIntrospectionQuery()}`),
  },
  {
    name: "full-pages",
    about: "15 full pages of flights on four connections",
    connections: 4,
    request: () => graphql(fifteen("flights(first: 100) { nodes { flightId airline } }")),
  },
  {
    name: "totals",
    about: "15 totals of a long list on 16 connections",
    connections: 16,
    request: () => graphql(fifteen("flights(first: 1) { totalCount }")),
  },
  {
    name: "queries-to-validate",
    about: "different queries of 1,500 fields, and others with 480 faults, on 16 connections",
    connections: 16,
    request: (n) =>
      graphql(
        n % 2 === 0
          ? `query Q${n} { flight(flightId: 1) { ${"flightId flightNumber airline ".repeat(500)} } }`
          : `query Q${n} { ${Array.from({ length: 480 }, (_, m) => `x${m} { y }`).join(" ")} }`,
      ),
  },
  {
    name: "queries-to-compile",
    about: "queries of 100 fields, each as often as it takes to compile it, on 16 connections",
    connections: 16,
    request: (n) => {
      const fields = Array.from({ length: 10 }, () => "flightId airline origin duration").join(" ");
      const name = `Q${Math.floor(n / 40)}`;
      return graphql(`query ${name} { flights(first: 100) { nodes { ${fields} } } }`);
    },
  },
  {
    name: "calendars",
    about: "price calendars of 62 days on 16 connections",
    connections: 16,
    request: () => [`/v1/api/flights/calendar?${route}&from=${inDays(10)}&to=${inDays(71)}`],
  },
  {
    name: "calendars-in-graphql",
    about: "15 price calendars of 62 days in a query, on four connections",
    connections: 4,
    request: () => graphql(fifteen(graphqlCalendar())),
  },
  {
    name: "flight-searches",
    about: "full pages of a search on 64 connections",
    connections: 64,
    request: () => [`/v1/api/flights?${route}&departureDate=${inDays(20)}&limit=100`],
  },
  {
    name: "docs-searches",
    about: "searches of the documentation on 64 connections",
    connections: 64,
    request: () => ["/docs/search?q=the+a+e+o+i"],
  },
  {
    name: "agent-batches",
    about: "an operator's agent that sends batches of 100 lists of tools, on 16 connections",
    connections: 16,
    isAgent: true,
    request: () => ["/mcp", Array.from({ length: 100 }, () => message("tools/list"))],
  },
  {
    name: "agent-lists",
    about: "the same with one list in each request",
    connections: 16,
    isAgent: true,
    request: () => ["/mcp", message("tools/list")],
  },
];

async function attack(victim: Victim, { connections, isAgent, request }: StrangerAttack) {
  const headers = {
    ...address,
    accept: "application/json, text/event-stream",
    ...(isAgent && { authorization: `Bearer ${victim.bearers.operator}` }),
  };
  const endsAt = performance.now() + attackMs;
  await flood(Infinity, connections, async (n) => {
    if (performance.now() > endsAt) throw ended;
    const [path, body] = request(n);
    const init = body === undefined ? { headers } : post(JSON.stringify(body), headers);
    // Who attacks may have to wait.
    await answered(victim.fetch(path, { ...init, signal: AbortSignal.timeout(patienceMs) }));
  }).catch((error: unknown) => {
    if (error !== ended) throw error;
  });
}

const ended = new Error("The attack is over");

/** What one client can do without a token or with an agent's: the others keep half of their rate. */
export const strangerAttacks: readonly Attack[] = table.map((entry) => ({
  name: entry.name,
  about: `as ${entry.isAgent ? "an agent" : "one address"}: ${entry.about}`,
  run: (victim) => attack(victim, entry),
  growthLimitBytes: garbageBytes,
}));
