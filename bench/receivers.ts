import { ceiling, delivery, goWebhook, measure, octokit, skyhook } from "./contestants.ts";
import type { LoadResult } from "./load.ts";
import { median } from "./measure.ts";
import { preparePeers } from "./peers.ts";
import { pinning } from "./processes.ts";
import { cells, environment, goalTable, table } from "./report.ts";
import type { Options, Suite } from "./suite.ts";

/** P3 and P4: we verify and store; they only verify. */
export const receivers: Suite = {
  name: "receivers",
  about: "webhook ingest ÷ servers that only verify: webhook in Go (P3), @octokit/webhooks (P4)",
  async run(options) {
    const versions = await preparePeers();
    const goVersion = versionOfGoWebhook();
    const rounds: Round[] = [];
    for (let round = 1; round <= options.rounds; round += 1) {
      console.log(`Round ${round} of ${options.rounds}`);
      rounds.push({
        ceiling: await measure(ceiling, options),
        skyhook: await measure(skyhook, options),
        goWebhook: await measure(goWebhook, options),
        octokit: await measure(octokit, options),
      });
    }
    return section(options, rounds, [
      `Debian's webhook ${goVersion}, without a log, GOMAXPROCS as it finds it on one core`,
      `@octokit/webhooks ${versions.octokit} on Node ${versions.node}`,
    ]);
  },
};

interface Round {
  readonly ceiling: LoadResult;
  readonly skyhook: LoadResult;
  readonly goWebhook: LoadResult;
  readonly octokit: LoadResult;
}

/** Throws when the program is not there, with how to get it. */
function versionOfGoWebhook(): string {
  if (Bun.which("webhook") === null) {
    throw new Error("P3 needs Debian's webhook: apt-get install -y webhook");
  }
  const { stdout } = Bun.spawnSync(["webhook", "-version"]);
  return stdout.toString().replace("webhook version", "").trim();
}

function section(options: Options, rounds: readonly Round[], peers: readonly string[]): string {
  const { connections, seconds, warmUpSeconds } = options;
  const of = (contestant: keyof Round, figure: keyof LoadResult): number =>
    median(rounds.map((round) => round[contestant][figure]));
  const ratios = (figure: keyof LoadResult, one: keyof Round, other: keyof Round): number[] =>
    rounds.map((round) => round[one][figure] / round[other][figure]);
  const row = (name: string, contestant: keyof Round): string[] => [
    name,
    cells.perSecond(of(contestant, "requestsPerSecond")),
    cells.decimals(of(contestant, "cpuMicros"), 1),
    cells.decimals(of(contestant, "p99Ms"), 2),
    cells.percent(of(contestant, "serverBusy")),
  ];
  return [
    `${connections} connections, one request in flight on each; ${rounds.length} rounds of ${seconds} s after ${warmUpSeconds} s of warm-up, contestants`,
    `in turn; medians. Each delivery is a ${delivery.provider} ${delivery.event} of ${of("ceiling", "bodyBytes")} bytes with an id, a body and a`,
    "signature of its own. All verify the same HMAC over the raw body and parse it. skyhook then stores event",
    "and notification under `synchronous=FULL` before it answers; the others store nothing and run nothing.",
    "",
    environment([pinning, ...peers]),
    "",
    table(
      ["server", "requests/s", "CPU µs/request", "p99 ms", "core busy"],
      [
        row(ceiling.name, "ceiling"),
        row(skyhook.name, "skyhook"),
        row(goWebhook.name, "goWebhook"),
        row(octokit.name, "octokit"),
      ],
    ),
    "",
    goalTable([
      {
        goal: "P3 skyhook ÷ webhook (Go), requests/s",
        ratios: ratios("requestsPerSecond", "skyhook", "goWebhook"),
        target: 1.5,
        better: "higher",
      },
      {
        goal: "P4 skyhook ÷ @octokit/webhooks, requests/s",
        ratios: ratios("requestsPerSecond", "skyhook", "octokit"),
        target: 2,
        better: "higher",
      },
    ]),
  ].join("\n");
}
