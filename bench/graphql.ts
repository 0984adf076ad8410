import { join } from "node:path";

import { administrator, tokenSettings } from "./api-requests.ts";
import { withFolder } from "./folder.ts";
import type { LoadKind, LoadResult } from "./load.ts";
import { pinning, runLoad, type Server, startServer } from "./processes.ts";
import { cells, environment, goalTable, table } from "./report.ts";
import { inTurns, loadColumns, loadRow, ratiosOf, type Round } from "./rounds.ts";
import { fill } from "./rows.ts";
import type { Options, Suite } from "./suite.ts";

/** G1: a page of 20 items by GraphQL, compared with REST. */
export const graphql: Suite = {
  name: "graphql",
  about: "GraphQL page ÷ REST page (G1)",
  async run(options) {
    const results = await withFolder("graphql", async (folder) => {
      const file = join(folder, "skyhook.db");
      fill(file, [
        { table: "flights", rows: flights, stepMs: 1_000 },
        { table: "bookings", rows, stepMs: 1_000 },
      ]);
      return measureAll(folder, options);
    });
    return section(options, results);
  },
};

const pageSize = 20;
/** The number of bookings. The benchmark reads their first page. */
const rows = 10_000;
/** The bookings are distributed over these flights. */
const flights = 1_000;

/** All fields of a booking in REST, under the same names. */
const all = `id: bookingId
  bookingId status totalPrice currency confirmationSentTo createdAt reference seats updatedAt
  flight {
    id: flightId flightNumber airline origin destination departureTime arrivalTime duration durationMinutes
    departureLocal arrivalLocal cabinClass price { amount currency } seatsAvailable createdAt
  }
  cancellation {
    bookingId status cancelledAt refund { amount currency percent fee method status reason }
  }`;

const pageInfo = "pageInfo { hasNextPage startCursor endCursor }";
const nodesQuery = `{ bookings(first: ${pageSize}) { nodes { ${all} } ${pageInfo} } }`;
const edgesQuery = `{ bookings(first: ${pageSize}) { edges { cursor node { ${all} } } ${pageInfo} } }`;

const path = "/v1/api/bookings";

/** Contestants that are compared run one after the other. */
const contestants = {
  rest: { name: "REST", send: { kind: "pages", paths: [path] } },
  nodes: { name: "GraphQL", send: { kind: "query", query: nodesQuery } },
  edges: { name: "GraphQL, edges with cursors", send: { kind: "query", query: edgesQuery } },
} as const satisfies Record<string, { readonly name: string; readonly send: LoadKind }>;

type Name = keyof typeof contestants;

async function measureAll(folder: string, options: Options): Promise<Round<Name>[]> {
  const server = await startSkyhook(folder);
  try {
    await checkSame(server);
    return await inTurns(options.rounds, async () => {
      const round = await measureRound(server, options);
      // The server must still return full pages.
      await checkSame(server);
      return round;
    });
  } finally {
    await server.stop();
  }
}

async function measureRound({ port, pid }: Server, options: Options): Promise<Round<Name>> {
  const { connections, seconds, warmUp } = options;
  const one = async (of: Name): Promise<LoadResult> => {
    const { name, send } = contestants[of];
    const pinned = { port, serverPid: pid, connections, seconds, warmUp };
    const result = await runLoad(name, { ...pinned, send, requests: 1, repeats: true });
    console.log(`  ${name}: ${cells.perSecond(result.requestsPerSecond)} pages/s`);
    return result;
  };
  return { rest: await one("rest"), nodes: await one("nodes"), edges: await one("edges") };
}

const startSkyhook = (folder: string): Promise<Server> =>
  startServer(["bun", join(import.meta.dir, "../src/main.ts"), "serve"], {
    HOST: "127.0.0.1",
    DATA_DIR: folder,
    SECRETS_DIR: folder,
    LOG_LEVEL: "error",
    JWT_SECRET: tokenSettings.key,
  });

/** A page, as compared. */
interface ComparedPage {
  readonly items: readonly unknown[];
  readonly hasMore: boolean;
  readonly nextCursor: string;
  readonly prevCursor: string;
}

/** Throws unless REST and GraphQL return the same full page. */
async function checkSame(server: Server): Promise<void> {
  const expected = await restPage(server);
  if (expected.items.length !== pageSize) throw new Error("A page is not full");
  for (const text of [nodesQuery, edgesQuery]) {
    const page = await graphqlPage(server, text);
    if (Bun.deepEquals(page, expected)) continue;
    throw new Error(`Pages differ: ${JSON.stringify({ page, expected }, null, 1)}`);
  }
}

async function restPage({ port }: Server): Promise<ComparedPage> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { authorization: await administrator() },
  });
  const page: {
    data: Record<string, unknown>[];
    pagination: Omit<ComparedPage, "items">;
  } = JSON.parse(await answer.text());
  // GraphQL has a user object instead of userId.
  const shown = page.data.map((item) => {
    const { userId: _, ...others } = item;
    return others;
  });
  const { hasMore, nextCursor, prevCursor } = page.pagination;
  return { items: shown, hasMore, nextCursor, prevCursor };
}

async function graphqlPage({ port }: Server, text: string): Promise<ComparedPage> {
  const answer = await post(port, text, { authorization: await administrator() });
  const body = await answer.text();
  const { data }: { data?: { bookings?: Connection } } = JSON.parse(body);
  const connection = data?.bookings;
  if (!connection) throw new Error(`GraphQL responded with ${answer.status} ${body}`);
  const { hasNextPage: hasMore, endCursor, startCursor } = connection.pageInfo;
  const shown = connection.nodes ?? connection.edges?.map(({ node }) => node) ?? [];
  return { items: shown, hasMore, nextCursor: endCursor, prevCursor: startCursor };
}

interface Connection {
  readonly nodes?: readonly unknown[];
  readonly edges?: readonly { readonly node: unknown }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly startCursor: string;
    readonly endCursor: string;
  };
}

const post = (port: number, text: string, headers: Record<string, string>): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ query: text }),
  });

function section(options: Options, rounds: readonly Round<Name>[]): string {
  const { connections, seconds, warmUp } = options;
  const ratios = ratiosOf(rounds);
  const of = (name: Name) => rounds.map((round) => round[name]);
  const row = (name: Name): string[] => loadRow(contestants[name].name, of(name));
  /** Of processor time. */
  const goal = (names: string, one: Name, target?: number) => ({
    goal: `G1 ${names}, processor time inverted`,
    ratios: ratios("cpuMicros", "rest", one),
    ...(target === undefined ? {} : { target }),
    better: "higher" as const,
  });
  return [
    `${connections} connections, one request in flight on each; ${rounds.length} rounds of ${seconds} s after ${warmUp.toLocaleString("en")} requests of warm-up, contestants`,
    `alternate; medians. Each request reads the first ${pageSize} of ${rows.toLocaleString("en")} rows with an admin's token, which the server verifies.`,
    "GraphQL selects every field of a booking in REST (except `userId`, which GraphQL replaces by a user) and both",
    "cursors of the page. Before and after each round both must return the same page. The server logs errors only.",
    "",
    environment([pinning]),
    "",
    table(["page of 20", ...loadColumns], [row("rest"), row("nodes"), row("edges")]),
    "",
    goalTable([goal("GraphQL ÷ REST", "nodes", 0.65), goal("edges with cursors ÷ REST", "edges")]),
  ].join("\n");
}
