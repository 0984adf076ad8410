import type { Victim } from "../victim.ts";

import { type Attack, deliver, expectStatus, head, Wire } from "./attack.ts";

/** How long each attack lasts. */
const floodMs = 1_500;
/** Bytes per write: many requests, which the server reads together. */
const floodBytes = 256 * 1_024;

const query = JSON.stringify({ query: "{ flights(first: 20) { nodes { flightId } } }" });
const post = (path: string, body: string) =>
  `${head(`POST ${path}`, "Content-Type: application/json", `Content-Length: ${body.length}`)}${body}`;

/** One entry for each kind of route, with the requests to pipeline. */
const kinds: readonly (readonly [
  name: string,
  about: string,
  requests: (victim: Victim) => readonly string[],
])[] = [
  ["livez", "of /livez", () => [head("GET /livez"), head("HEAD /livez")]],
  ["home", "of the start page and of the figures", () => [head("GET /"), head("GET /metrics")]],
  [
    "pages",
    "of pages",
    () => ["/docs", "/swagger", "/problems/internal"].map((path) => head(`GET ${path}`)),
  ],
  [
    "static",
    "of the console and its files",
    () => [head("GET /console"), head("GET /openapi.json")],
  ],
  [
    "lists",
    "of lists",
    ({ bearers }) => [
      head("GET /v1/events", `Authorization: Bearer ${bearers.operator}`),
      head("GET /v1/api/flights?origin=JFK&destination=LHR&departureDate=2030-01-01"),
    ],
  ],
  ["flight", "of one flight", () => [head("GET /v1/api/flights/1")]],
  [
    "graphql",
    "of queries",
    () => [post("/graphql", query), head("GET /graphql?query={__typename}")],
  ],
  [
    "errors",
    "of what is 404, 405 or 401",
    () => [
      head("GET /nothing"),
      head("DELETE /livez"),
      head("GET /v1/users"),
      head("OPTIONS /livez"),
    ],
  ],
  [
    "webhooks",
    "of deliveries that are rejected",
    () => [
      post("/webhooks/task_tracker", "{}"),
      head("GET /webhooks/task_tracker"),
      post("/webhooks/x", "{}"),
    ],
  ],
];

export const pipeliningAttacks: readonly Attack[] = kinds.map(([name, about, requests]) => ({
  name: `pipelined-${name}`,
  about: `pipelined requests ${about} over one connection`,
  async run(victim) {
    // The first request of a kind may load what it needs.
    for (const request of requests(victim)) {
      using wire = await Wire.open(victim);
      await wire.send(request);
      await wire.status();
    }
    const round = requests(victim).join("");
    const flood = round.repeat(Math.ceil(floodBytes / round.length));
    const endsAtMs = performance.now() + floodMs;
    while (performance.now() < endsAtMs) {
      using wire = await Wire.open(victim);
      while (performance.now() < endsAtMs && (await wire.send(flood)));
    }
    expectStatus(await deliver(victim), 200);
  },
}));
