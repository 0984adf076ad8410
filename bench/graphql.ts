import { join } from "node:path";

import { administrator } from "./api-requests.ts";
import { startSkyhook } from "./contestants.ts";
import { withFolder } from "./folder.ts";
import type { LoadKind, LoadResult } from "./load.ts";
import { runLoad, type Server } from "./processes.ts";
import { cells, table } from "./report.ts";
import { inTurns, loadColumns, loadRow, type Round } from "./rounds.ts";
import { fill } from "./rows.ts";
import type { Options, Report, Suite } from "./suite.ts";

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
    return report(options, results);
  },
};

const pageSize = 20;
/** The number of bookings. The benchmark reads their first page. */
const rows = 10_000;
/** The bookings are distributed over these flights. */
const flights = 1_000;

/** All fields of a booking, and both cursors of the page, under the names that REST has for them. */
const all = `id: bookingId
  bookingId status totalPrice currency confirmationSentTo createdAt reference seats updatedAt
  flight {
    id: flightId flightNumber airline origin destination departureTime arrivalTime duration durationMinutes
    departureLocal arrivalLocal cabinClass price { amount currency } seatsAvailable createdAt
  }
  cancellation {
    bookingId status cancelledAt refund { amount currency percent fee method status reason }
  }`;

const query = `{ bookings(first: ${pageSize}) {
  data: nodes { ${all} }
  pagination: pageInfo { hasMore: hasNextPage nextCursor: endCursor prevCursor: startCursor }
} }`;

const path = "/v1/api/bookings";

/** Contestants that are compared run one after the other. */
const contestants = {
  rest: { name: "REST", send: { kind: "pages", paths: [path] } },
  graphql: { name: "GraphQL", send: { kind: "query", query } },
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
  return { rest: await one("rest"), graphql: await one("graphql") };
}

/** A page, as compared. */
interface Page {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly pagination: Readonly<Record<"hasMore" | "nextCursor" | "prevCursor", unknown>>;
}

/** Throws unless REST and GraphQL return the same full page. */
async function checkSame({ port }: Server): Promise<void> {
  const url = `http://127.0.0.1:${port}`;
  const headers = { authorization: await administrator(), "content-type": "application/json" };
  const body = JSON.stringify({ query });
  const [rest, graphql] = await Promise.all([
    fetch(url + path, { headers }),
    fetch(`${url}/graphql`, { method: "POST", headers, body }),
  ]);
  const { data, pagination }: Page = JSON.parse(await rest.text());
  if (data.length !== pageSize) throw new Error("A page is not full");
  const { hasMore, nextCursor, prevCursor } = pagination;
  const expected = {
    // GraphQL has a user object instead of userId.
    data: data.map((item) => {
      const { userId: _, ...others } = item;
      return others;
    }),
    pagination: { hasMore, nextCursor, prevCursor },
  };
  const page: unknown = JSON.parse(await graphql.text());
  if (Bun.deepEquals(page, { data: { bookings: expected } })) return;
  throw new Error(`Pages differ: ${JSON.stringify({ page, expected }, null, 1)}`);
}

function report(options: Options, rounds: readonly Round<Name>[]): Report {
  const { connections, seconds, warmUp } = options;
  const of = (name: Name) => rounds.map((round) => round[name]);
  const micros = (name: Name) => of(name).map(({ cpuMicros }) => cpuMicros);
  const row = (name: Name): string[] => loadRow(contestants[name].name, of(name));
  return {
    figures: { restPage: micros("rest"), graphqlPage: micros("graphql") },
    text: [
      `${connections} connections, one request in flight on each; ${rounds.length} rounds of ${seconds} s after ${warmUp.toLocaleString("en")} requests of warm-up, contestants`,
      `alternate; medians. Each request reads the first ${pageSize} of ${rows.toLocaleString("en")} rows with an admin's token, which the server verifies.`,
      "GraphQL selects every field of a booking in REST (except `userId`, which GraphQL replaces by a user) and both",
      "cursors of the page. Before and after each round both must return the same page. The server logs errors only.",
      "",
      table(["page of 20", ...loadColumns], [row("rest"), row("graphql")]),
    ],
  };
}
