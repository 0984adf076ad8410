import { barePromise, ceiling, delivery, fastifySqlite, measure, skyhook } from "./contestants.ts";
import type { LoadResult } from "./load.ts";
import { median } from "./measure.ts";
import { type PeerVersions, preparePeers } from "./peers.ts";
import { pinning } from "./processes.ts";
import { cells, environment, goalTable, table } from "./report.ts";
import type { Options, Suite } from "./suite.ts";

/** P1, P2 and P5: what a webhook costs that is verified, unique and on disk before it is answered. */
export const ingest: Suite = {
  name: "ingest",
  about: "webhook ingest ÷ bare Bun.serve (P1, P5) and ÷ fastify + better-sqlite3 (P2)",
  async run(options) {
    const versions = await preparePeers();
    const rounds: Round[] = [];
    for (let round = 1; round <= options.rounds; round += 1) {
      console.log(`Round ${round} of ${options.rounds}`);
      rounds.push(await runRound(options));
    }
    return section(options, versions, rounds);
  },
};

interface Round {
  readonly ceiling: LoadResult;
  readonly promise: LoadResult;
  readonly skyhook: LoadResult;
  readonly peer: LoadResult;
}

async function runRound(options: Options): Promise<Round> {
  return {
    ceiling: await measure(ceiling, options),
    promise: await measure(barePromise, options),
    skyhook: await measure(skyhook, options),
    peer: await measure(fastifySqlite, options),
  };
}

/** The share of its core below which the ceiling was disturbed; undisturbed it has 90 % and more. */
const leastCeilingBusy = 0.8;
/** The best round over the worst, beyond which a median says nothing. */
const mostSpread = 2;

function section(options: Options, versions: PeerVersions, rounds: readonly Round[]): string {
  const { connections, seconds, warmUpSeconds } = options;
  const of = (contestant: keyof Round, figure: keyof LoadResult): number =>
    median(rounds.map((round) => round[contestant][figure]));
  const ratios = (figure: keyof LoadResult, one: keyof Round, other: keyof Round): number[] =>
    rounds.map((round) => round[one][figure] / round[other][figure]);

  // Bare Bun.serve waits for nothing but its core. Where others took that away, it is no ceiling, and
  // whatever is divided by it looks better than it is.
  const ceilingBusy = of("ceiling", "serverBusy");
  const starved =
    ceilingBusy < leastCeilingBusy ? `ceiling had ${cells.percent(ceilingBusy)} of its core` : null;
  const unsteady = (values: readonly number[]): string | null =>
    Math.max(...values) > mostSpread * Math.min(...values) ? "rounds differ too much" : null;
  const throughput = ratios("requestsPerSecond", "skyhook", "ceiling");
  const overPeer = ratios("requestsPerSecond", "skyhook", "peer");
  const tail = ratios("p99Ms", "skyhook", "ceiling");

  const row = (name: string, contestant: keyof Round): string[] => [
    name,
    cells.perSecond(of(contestant, "requestsPerSecond")),
    cells.decimals(of(contestant, "cpuMicros"), 1),
    cells.decimals(of(contestant, "p50Ms"), 2),
    cells.decimals(of(contestant, "p99Ms"), 2),
    cells.percent(of(contestant, "serverBusy")),
    cells.percent(of(contestant, "generatorBusy")),
  ];
  return [
    `${connections} connections, one request in flight on each; ${rounds.length} rounds of ${seconds} s after ${warmUpSeconds} s of warm-up, contestants`,
    `in turn; medians. Each delivery is a ${delivery.provider} ${delivery.event} of ${of("ceiling", "bodyBytes")} bytes with an id, a body and a`,
    `signature of its own. All but bare Bun.serve verify it, store event and notification in a database file`,
    `on the same disk under \`synchronous=FULL\` and answer after the commit; what they acknowledged is`,
    `counted in the database afterwards. skyhook runs with LOG_LEVEL=warn, the others without a log.`,
    "",
    environment([
      pinning,
      `fastify ${versions.fastify}, better-sqlite3 ${versions.betterSqlite3} (SQLite ${versions.sqlite}) on Node ${versions.node}`,
    ]),
    "",
    table(
      [
        "server",
        "requests/s",
        "CPU µs/request",
        "p50 ms",
        "p99 ms",
        "core busy",
        "load's core busy",
      ],
      [
        row(ceiling.name, "ceiling"),
        row(barePromise.name, "promise"),
        row(skyhook.name, "skyhook"),
        row(fastifySqlite.name, "peer"),
      ],
    ),
    "",
    goalTable([
      {
        goal: "P1 skyhook ÷ bare Bun.serve, requests/s",
        ratios: throughput,
        flaw: starved ?? unsteady(throughput),
        floor: 0.15,
        target: 0.25,
        better: "higher",
      },
      {
        goal: "P1 by CPU time: bare Bun.serve ÷ skyhook",
        ratios: ratios("cpuMicros", "ceiling", "skyhook"),
        better: "higher",
      },
      {
        goal: "the least that keeps the promise ÷ bare Bun.serve, requests/s",
        ratios: ratios("requestsPerSecond", "promise", "ceiling"),
        better: "higher",
      },
      {
        goal: "skyhook ÷ the least that keeps the promise, requests/s",
        ratios: ratios("requestsPerSecond", "skyhook", "promise"),
        better: "higher",
      },
      {
        goal: "P2 skyhook ÷ fastify + better-sqlite3, requests/s",
        ratios: overPeer,
        flaw: unsteady(overPeer),
        floor: 3,
        target: 5,
        better: "higher",
      },
      {
        goal: "P2 by CPU time: fastify + better-sqlite3 ÷ skyhook",
        ratios: ratios("cpuMicros", "peer", "skyhook"),
        better: "higher",
      },
      {
        goal: "P5 skyhook ÷ bare Bun.serve, p99",
        ratios: tail,
        flaw: starved ?? unsteady(tail),
        target: 3,
        better: "lower",
      },
    ]),
  ].join("\n");
}
