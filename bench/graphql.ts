import { join } from "node:path";

import { administrator, tokenSettings } from "./api-requests.ts";
import { withFolder } from "./folder.ts";
import type { LoadKind, LoadResult } from "./load.ts";
import { type PeerVersions, preparePeers } from "./peers.ts";
import { pinning, runLoad, type Server, startServer } from "./processes.ts";
import { cells, environment, goalTable, table } from "./report.ts";
import { caveatOf, inTurns, loadColumns, loadRow, ratiosOf, type Round } from "./rounds.ts";
import { fill } from "./rows.ts";
import type { Options, Suite } from "./suite.ts";

/** G1 and G2: a page of 20 items by GraphQL, compared with REST and with mercurius. */
export const graphql: Suite = {
  name: "graphql",
  about: "GraphQL page ÷ REST page (G1) and ÷ mercurius with jit (G2)",
  async run(options) {
    const versions = await preparePeers();
    const results = await withFolder("graphql", async (folder) => {
      const file = join(folder, "skyhook.db");
      fill(file, [
        { table: "flights", rows: flights, stepMs: 1_000 },
        { table: "bookings", rows, stepMs: 1_000 },
      ]);
      return measureAll(folder, file, options);
    });
    return section(options, versions, results);
  },
};

const pageSize = 20;
/** The number of bookings. The benchmark reads their first page. */
const rows = 10_000;
/** The bookings are distributed over these flights. */
const flights = 1_000;

const columns =
  "bookingId status totalPrice currency confirmationSentTo createdAt reference seats updatedAt";
/** All fields of a booking in REST, under the same names. */
const all = `id: bookingId ${columns}
  flight {
    id: flightId flightNumber airline origin destination departureTime arrivalTime duration durationMinutes
    departureLocal arrivalLocal cabinClass price { amount currency } seatsAvailable createdAt
  }
  cancellation {
    bookingId status cancelledAt refund { amount currency percent fee method status reason }
  }`;

const pageInfo = "pageInfo { hasNextPage startCursor endCursor }";
const nodesQuery = (fields: string): string =>
  `{ bookings(first: ${pageSize}) { nodes { ${fields} } ${pageInfo} } }`;
const edgesQuery = (fields: string): string =>
  `{ bookings(first: ${pageSize}) { edges { cursor node { ${fields} } } ${pageInfo} } }`;

const path = "/v1/api/bookings";

interface Contestant {
  readonly name: string;
  readonly server: "skyhook" | "mercurius";
  readonly send: LoadKind;
}

const query = (text: string): LoadKind => ({ kind: "query", query: text });

/** Contestants that are compared run one after the other. */
const contestants = {
  rest: { name: "REST", server: "skyhook", send: { kind: "pages", paths: [path] } },
  nodes: { name: "GraphQL", server: "skyhook", send: query(nodesQuery(all)) },
  edges: {
    name: "GraphQL, edges with cursors",
    server: "skyhook",
    send: query(edgesQuery(all)),
  },
  columns: {
    name: "GraphQL, columns only",
    server: "skyhook",
    send: query(nodesQuery(columns)),
  },
  peer: {
    name: "mercurius, columns only",
    server: "mercurius",
    send: query(nodesQuery(columns)),
  },
} as const satisfies Record<string, Contestant>;

type Name = keyof typeof contestants;

/** Both servers use the same database file. The idle server uses no CPU time. */
async function measureAll(folder: string, file: string, options: Options): Promise<Round<Name>[]> {
  const skyhook = await startSkyhook(folder);
  try {
    const mercurius = await startMercurius(file);
    try {
      const servers = { skyhook, mercurius };
      await checkSame(servers);
      return await inTurns(options.rounds, async () => {
        const round = await measureRound(servers, options);
        // The servers must still return full pages.
        await checkSame(servers);
        return round;
      });
    } finally {
      await mercurius.stop();
    }
  } finally {
    await skyhook.stop();
  }
}

type Servers = Readonly<Record<Contestant["server"], Server>>;

async function measureRound(servers: Servers, options: Options): Promise<Round<Name>> {
  const one = async (name: Name): Promise<LoadResult> => {
    const { name: title, server, send } = contestants[name];
    const { port, pid } = servers[server];
    const { connections, seconds, warmUp } = options;
    const result = await runLoad(title, {
      send,
      port,
      serverPid: pid,
      connections,
      seconds,
      warmUp,
      requests: 1,
      repeats: true,
    });
    console.log(`  ${title}: ${cells.perSecond(result.requestsPerSecond)} pages/s`);
    return result;
  };
  return {
    rest: await one("rest"),
    nodes: await one("nodes"),
    edges: await one("edges"),
    columns: await one("columns"),
    peer: await one("peer"),
  };
}

const startSkyhook = (folder: string): Promise<Server> =>
  startServer(["bun", join(import.meta.dir, "../src/main.ts"), "serve"], {
    HOST: "127.0.0.1",
    DATA_DIR: folder,
    SECRETS_DIR: folder,
    LOG_LEVEL: "error",
    JWT_SECRET: tokenSettings.key,
  });

const startMercurius = (file: string): Promise<Server> =>
  startServer(["node", join(import.meta.dir, "servers/mercurius.mjs")], {
    DATABASE: file,
    JWT_SECRET: tokenSettings.key,
    JWT_ISSUER: tokenSettings.issuer,
    JWT_AUDIENCE: tokenSettings.audience,
  });

/** A page, as compared between servers. */
interface ComparedPage {
  readonly items: readonly unknown[];
  readonly hasMore: boolean;
  readonly nextCursor: string;
  readonly prevCursor: string;
}

/** Throws unless all servers return the same full page, and none returns it without a token. */
async function checkSame({ skyhook, mercurius }: Servers): Promise<void> {
  const ofRest = await restPage(skyhook);
  if (ofRest.items.length !== pageSize) throw new Error("A page is not full");
  const ofColumns = await graphqlPage(skyhook, nodesQuery(columns));
  for (const [server, text, expected] of [
    [skyhook, nodesQuery(all), ofRest],
    [skyhook, edgesQuery(all), ofRest],
    [mercurius, nodesQuery(columns), ofColumns],
  ] as const) {
    const page = await graphqlPage(server, text);
    if (Bun.deepEquals(page, expected)) continue;
    throw new Error(`Pages differ: ${JSON.stringify({ page, expected }, null, 1)}`);
  }
  for (const { port } of [skyhook, mercurius]) {
    const answer = await post(port, nodesQuery(columns), {});
    const body = await answer.text();
    if (answer.status === 401 || body.includes("authentication-required")) continue;
    throw new Error(`Bookings are returned without a token: ${answer.status} ${body}`);
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

function section(options: Options, versions: PeerVersions, rounds: readonly Round<Name>[]): string {
  const { connections, seconds, warmUp } = options;
  const ratios = ratiosOf(rounds);
  const of = (name: Name) => rounds.map((round) => round[name]);
  const row = (name: Name): string[] => loadRow(contestants[name].name, of(name));
  /** The goal applies to processor time. Requests/s are reported for comparison. */
  const pair = (id: string, names: string, one: Name, other: Name, target?: number) => {
    const perSecond = ratios("requestsPerSecond", one, other);
    return [
      {
        goal: `${id} ${names}, processor time inverted`,
        ratios: ratios("cpuMicros", other, one),
        ...(target === undefined ? {} : { target }),
        better: "higher" as const,
      },
      {
        goal: `${names}, requests/s`,
        ratios: perSecond,
        caveat: caveatOf(perSecond, of(one), of(other)),
        better: "higher" as const,
      },
    ];
  };
  return [
    `${connections} connections, one request in flight on each; ${rounds.length} rounds of ${seconds} s after ${warmUp.toLocaleString("en")} requests of warm-up, contestants`,
    `alternate; medians. Each request reads the first ${pageSize} of ${rows.toLocaleString("en")} rows with an admin's token, which the server verifies.`,
    "GraphQL selects every field of a booking in REST (except `userId`, which GraphQL replaces by a user) and both",
    "cursors of the page. Before and after each round all servers must return the same page. mercurius uses the same",
    "GraphQL schema and database file, and reads only what is in the table of bookings; servers log errors only.",
    "",
    environment([
      pinning,
      `mercurius ${versions.mercurius} (jit: 1), graphql ${versions.graphql}, fastify ${versions.fastify}, @fastify/jwt ${versions.fastifyJwt}, better-sqlite3 ${versions.betterSqlite3} (SQLite ${versions.sqlite}) on Node ${versions.node}`,
    ]),
    "",
    table(
      ["page of 20", ...loadColumns],
      [row("rest"), row("nodes"), row("edges"), row("columns"), row("peer")],
    ),
    "",
    goalTable([
      ...pair("G1", "GraphQL ÷ REST", "nodes", "rest", 0.65),
      ...pair("G1", "edges with cursors ÷ REST", "edges", "rest"),
      ...pair("G2", "GraphQL ÷ mercurius", "columns", "peer", 1.05),
    ]),
  ].join("\n");
}
