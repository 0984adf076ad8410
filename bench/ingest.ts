import { ceiling, delivery, fastifySqlite, measure, minimal, skyhook } from "./contestants.ts";
import { type PeerVersions, preparePeers } from "./peers.ts";
import { pinning } from "./processes.ts";
import { environment, goalTable, table } from "./report.ts";
import {
  caveatOf,
  inTurns,
  loadColumns,
  loadRow,
  medianOf,
  ratiosOf,
  type Round,
} from "./rounds.ts";
import type { Options, Suite } from "./suite.ts";

/** P1, P2 and P5: the cost of a webhook that is verified, deduplicated and on disk before the response. */
export const ingest: Suite = {
  name: "ingest",
  about: "webhook ingest ÷ bare Bun.serve (P1, P5) and ÷ fastify + better-sqlite3 (P2)",
  async run(options) {
    const versions = await preparePeers();
    const rounds = await inTurns(options.rounds, () => runRound(options));
    return section(options, versions, rounds);
  },
};

type Name = "ceiling" | "minimal" | "skyhook" | "peer";

async function runRound(options: Options): Promise<Round<Name>> {
  return {
    ceiling: await measure(ceiling, options),
    minimal: await measure(minimal, options),
    skyhook: await measure(skyhook, options),
    peer: await measure(fastifySqlite, options),
  };
}

function section(options: Options, versions: PeerVersions, rounds: readonly Round<Name>[]): string {
  const { connections, seconds, warmUpSeconds } = options;
  const ratios = ratiosOf(rounds);
  const of = (name: Name) => rounds.map((round) => round[name]);
  const throughput = ratios("requestsPerSecond", "skyhook", "ceiling");
  const overPeer = ratios("requestsPerSecond", "skyhook", "peer");
  const tail = ratios("p99Ms", "skyhook", "ceiling");
  return [
    `${connections} connections, one request in flight on each; ${rounds.length} rounds of ${seconds} s after ${warmUpSeconds} s of warm-up, contestants`,
    `alternate; medians. Each delivery is a ${delivery.provider} ${delivery.event} of ${medianOf(of("ceiling"), "bodyBytes")} bytes with a unique id, body and`,
    `signature. All except bare Bun.serve verify it, store event and notification in a database file on the`,
    `same disk with \`synchronous=FULL\` and respond after the commit. Afterwards the rows in the database must`,
    `match the acknowledged deliveries. skyhook runs with LOG_LEVEL=warn, the others without a log.`,
    "",
    environment([
      pinning,
      `fastify ${versions.fastify}, better-sqlite3 ${versions.betterSqlite3} (SQLite ${versions.sqlite}) on Node ${versions.node}`,
    ]),
    "",
    table(
      ["server", ...loadColumns],
      [
        loadRow(ceiling.name, of("ceiling")),
        loadRow(minimal.name, of("minimal")),
        loadRow(skyhook.name, of("skyhook")),
        loadRow(fastifySqlite.name, of("peer")),
      ],
    ),
    "",
    goalTable([
      {
        goal: "P1 skyhook ÷ bare Bun.serve, requests/s",
        ratios: throughput,
        caveat: caveatOf(throughput, of("ceiling")),
        floor: 0.15,
        target: 0.25,
        better: "higher",
      },
      {
        goal: "P1 CPU time: bare Bun.serve ÷ skyhook",
        ratios: ratios("cpuMicros", "ceiling", "skyhook"),
        better: "higher",
      },
      {
        goal: "minimal server, same guarantee ÷ bare Bun.serve, requests/s",
        ratios: ratios("requestsPerSecond", "minimal", "ceiling"),
        better: "higher",
      },
      {
        goal: "skyhook ÷ minimal server, same guarantee, requests/s",
        ratios: ratios("requestsPerSecond", "skyhook", "minimal"),
        better: "higher",
      },
      {
        goal: "P2 skyhook ÷ fastify + better-sqlite3, requests/s",
        ratios: overPeer,
        caveat: caveatOf(overPeer),
        floor: 3,
        target: 5,
        better: "higher",
      },
      {
        goal: "P2 CPU time: fastify + better-sqlite3 ÷ skyhook",
        ratios: ratios("cpuMicros", "peer", "skyhook"),
        better: "higher",
      },
      {
        goal: "P5 skyhook ÷ bare Bun.serve, p99",
        ratios: tail,
        caveat: caveatOf(tail, of("ceiling")),
        target: 3,
        better: "lower",
      },
    ]),
  ].join("\n");
}
