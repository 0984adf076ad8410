import {
  ceiling,
  delivery,
  fastifySqlite,
  measure,
  minimal,
  skyhook,
  skyhookOnAllCores,
  skyhookWith,
} from "./contestants.ts";
import { withFolder } from "./folder.ts";
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

/** I1 and I2: the processor time, over all threads, of a webhook that is verified, deduplicated and on disk before the response. */
export const ingest: Suite = {
  name: "ingest",
  about: "webhook ingest ÷ a minimal server (I1), fastify ÷ it (I2), and versions of Skyhook",
  async run(options) {
    const versions = await preparePeers();
    return withFolder("grown", async (folder) => {
      const rounds = await inTurns(options.rounds, () => runRound(folder, options));
      return section(options, versions, rounds);
    });
  },
};

type Name = "ceiling" | "minimal" | "skyhook" | "peer" | "few" | "many";

const [few, many] = [100_000, 1_000_000];

interface IngestRound extends Round<Name> {
  /** The compared versions of Skyhook, not pinned to a core, in the order of the options. */
  readonly versions: readonly LoadResult[];
}

async function runRound(folder: string, options: Options): Promise<IngestRound> {
  const versions: LoadResult[] = [];
  for (const program of options.programs) {
    versions.push(await measure(skyhookOnAllCores(program), options));
  }
  return {
    ceiling: await measure(ceiling, options),
    minimal: await measure(minimal, options),
    skyhook: await measure(skyhook, options),
    peer: await measure(fastifySqlite, options),
    few: await measure(skyhookWith(few, folder), options),
    many: await measure(skyhookWith(many, folder), options),
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
      goal: `${last.name} ÷ ${first.name}, not pinned, requests/s`,
      ratios: versionIn(rounds, -1).map(
        ({ requestsPerSecond }, round) =>
          requestsPerSecond / (before[round]?.requestsPerSecond ?? Number.NaN),
      ),
      better: "higher",
    },
  ];
}

function section(options: Options, versions: PeerVersions, rounds: readonly IngestRound[]): string {
  const { connections, seconds, warmUp } = options;
  const ratios = ratiosOf<Name>(rounds);
  const of = (name: Name) => rounds.map((round) => round[name]);
  return [
    `${connections} connections, one request in flight on each; ${rounds.length} rounds of ${seconds} s after ${warmUp.toLocaleString("en")} requests of warm-up, contestants`,
    `alternate; medians. Each delivery is a ${delivery.provider} ${delivery.event} of ${medianOf(of("ceiling"), "bodyBytes")} bytes with a unique id, body and`,
    `signature. All except bare Bun.serve verify it, store event and notification in a database file on the`,
    `same disk with \`synchronous=FULL\` and respond after the commit. Afterwards the rows in the database must`,
    `match the acknowledged deliveries. skyhook runs with LOG_LEVEL=warn, the others without a log.`,
    "Goals compare processor time over all threads. Servers that are not pinned share all cores with their load.",
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
        loadRow(skyhookWith(few, "").name, of("few")),
        loadRow(skyhookWith(many, "").name, of("many")),
        loadRow(fastifySqlite.name, of("peer")),
        ...options.programs.map((program, index) =>
          loadRow(skyhookOnAllCores(program).name, versionIn(rounds, index)),
        ),
      ],
    ),
    "",
    goalTable([
      {
        goal: "I1 skyhook ÷ minimal server",
        ratios: ratios("cpuMicros", "skyhook", "minimal"),
        target: 1.4,
        better: "lower",
      },
      {
        goal: "I2 fastify + better-sqlite3 ÷ skyhook",
        ratios: ratios("cpuMicros", "peer", "skyhook"),
        target: 5,
        better: "higher",
      },
      {
        goal: "1,000,000 events before ÷ 100,000",
        ratios: ratios("cpuMicros", "many", "few"),
        better: "lower",
      },
      {
        goal: "main thread: skyhook ÷ minimal server",
        ratios: ratios("mainCpuMicros", "skyhook", "minimal"),
        better: "lower",
      },
      {
        goal: "skyhook ÷ fastify + better-sqlite3, requests/s",
        ratios: ratios("requestsPerSecond", "skyhook", "peer"),
        caveat: caveatOf(ratios("requestsPerSecond", "skyhook", "peer")),
        better: "higher",
      },
      ...versionGoals(rounds, options),
    ]),
  ].join("\n");
}
