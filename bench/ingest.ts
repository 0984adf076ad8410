import {
  ceiling,
  delivery,
  fastifySqlite,
  measure,
  minimal,
  skyhook,
  skyhookOnAllCores,
} from "./contestants.ts";
import type { LoadResult } from "./load.ts";
import { type PeerVersions, preparePeers } from "./peers.ts";
import { pinning } from "./processes.ts";
import { environment, type Goal, goalTable, table } from "./report.ts";
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

/** I1, I2 and I3: the cost of a webhook that is verified, deduplicated and on disk before the response. */
export const ingest: Suite = {
  name: "ingest",
  about: "webhook ingest ÷ a minimal server (I1), fastify (I2) and an earlier version (I3)",
  async run(options) {
    const versions = await preparePeers();
    const rounds = await inTurns(options.rounds, () => runRound(options));
    return section(options, versions, rounds);
  },
};

type Name = "ceiling" | "minimal" | "skyhook" | "peer";

interface IngestRound extends Round<Name> {
  /** The compared versions of Skyhook, not pinned to a core, in the order of the options. */
  readonly versions: readonly LoadResult[];
}

async function runRound(options: Options): Promise<IngestRound> {
  const versions: LoadResult[] = [];
  for (const program of options.programs) {
    versions.push(await measure(skyhookOnAllCores(program), options));
  }
  return {
    ceiling: await measure(ceiling, options),
    minimal: await measure(minimal, options),
    skyhook: await measure(skyhook, options),
    peer: await measure(fastifySqlite, options),
    versions,
  };
}

const versionIn = (rounds: readonly IngestRound[], index: number): readonly LoadResult[] =>
  rounds.flatMap(({ versions }) => versions.at(index) ?? []);

/** The last version compared with the first, if there are several. */
function versionGoals(rounds: readonly IngestRound[], { programs }: Options): readonly Goal[] {
  const [first, last] = [programs[0], programs.at(-1)];
  if (first === undefined || last === undefined || first === last) return [];
  const before = versionIn(rounds, 0);
  return [
    {
      goal: `I3 ${last.name} ÷ ${first.name}, not pinned, requests/s`,
      ratios: versionIn(rounds, -1).map(
        ({ requestsPerSecond }, round) =>
          requestsPerSecond / (before[round]?.requestsPerSecond ?? Number.NaN),
      ),
      target: 1.3,
      better: "higher",
    },
  ];
}

function section(options: Options, versions: PeerVersions, rounds: readonly IngestRound[]): string {
  const { connections, seconds, warmUpSeconds } = options;
  const ratios = ratiosOf<Name>(rounds);
  const of = (name: Name) => rounds.map((round) => round[name]);
  const overPeer = ratios("requestsPerSecond", "skyhook", "peer");
  return [
    `${connections} connections, one request in flight on each; ${rounds.length} rounds of ${seconds} s after ${warmUpSeconds} s of warm-up, contestants`,
    `alternate; medians. Each delivery is a ${delivery.provider} ${delivery.event} of ${medianOf(of("ceiling"), "bodyBytes")} bytes with a unique id, body and`,
    `signature. All except bare Bun.serve verify it, store event and notification in a database file on the`,
    `same disk with \`synchronous=FULL\` and respond after the commit. Afterwards the rows in the database must`,
    `match the acknowledged deliveries. skyhook runs with LOG_LEVEL=warn, the others without a log.`,
    "Servers that are not pinned share all cores with their load.",
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
        ...options.programs.map((program, index) =>
          loadRow(skyhookOnAllCores(program).name, versionIn(rounds, index)),
        ),
      ],
    ),
    "",
    goalTable([
      {
        goal: "I1 CPU time of the main thread: minimal server ÷ skyhook",
        ratios: ratios("mainCpuMicros", "minimal", "skyhook"),
        target: 0.85,
        better: "higher",
      },
      {
        goal: "CPU time of all threads: minimal server ÷ skyhook",
        ratios: ratios("cpuMicros", "minimal", "skyhook"),
        better: "higher",
      },
      {
        goal: "skyhook ÷ minimal server, requests/s",
        ratios: ratios("requestsPerSecond", "skyhook", "minimal"),
        better: "higher",
      },
      {
        goal: "I2 skyhook ÷ fastify + better-sqlite3, requests/s",
        ratios: overPeer,
        caveat: caveatOf(overPeer),
        floor: 3,
        target: 4,
        better: "higher",
      },
      {
        goal: "CPU time: fastify + better-sqlite3 ÷ skyhook",
        ratios: ratios("cpuMicros", "peer", "skyhook"),
        better: "higher",
      },
      ...versionGoals(rounds, options),
      {
        goal: "skyhook ÷ bare Bun.serve, requests/s",
        ratios: ratios("requestsPerSecond", "skyhook", "ceiling"),
        better: "higher",
      },
      {
        goal: "minimal server ÷ bare Bun.serve, requests/s",
        ratios: ratios("requestsPerSecond", "minimal", "ceiling"),
        better: "higher",
      },
      {
        goal: "skyhook ÷ bare Bun.serve, p99",
        ratios: ratios("p99Ms", "skyhook", "ceiling"),
        better: "lower",
      },
    ]),
  ].join("\n");
}
