import { ceiling, delivery, goWebhook, measure, octokit, skyhook } from "./contestants.ts";
import { preparePeers } from "./peers.ts";
import { pinning } from "./processes.ts";
import { environment, goalTable, table } from "./report.ts";
import { inTurns, loadColumns, loadRow, medianOf, ratiosOf, type Round } from "./rounds.ts";
import type { Options, Suite } from "./suite.ts";

/** Skyhook verifies and stores; the others only verify. */
export const receivers: Suite = {
  name: "receivers",
  about: "webhook ingest ÷ servers that only verify: webhook in Go, @octokit/webhooks",
  async run(options) {
    const versions = await preparePeers();
    const goVersion = versionOfGoWebhook();
    const rounds = await inTurns(options.rounds, async () => ({
      ceiling: await measure(ceiling, options),
      skyhook: await measure(skyhook, options),
      goWebhook: await measure(goWebhook, options),
      octokit: await measure(octokit, options),
    }));
    return section(options, rounds, [
      `Debian's webhook ${goVersion}, without a log, default GOMAXPROCS on one core`,
      `@octokit/webhooks ${versions.octokit} on Node ${versions.node}`,
    ]);
  },
};

type Name = "ceiling" | "skyhook" | "goWebhook" | "octokit";

/** Throws if the program is not installed. */
function versionOfGoWebhook(): string {
  if (Bun.which("webhook") === null) {
    throw new Error("Debian's webhook is not installed. Install it: apt-get install -y webhook");
  }
  const { stdout } = Bun.spawnSync(["webhook", "-version"]);
  return stdout.toString().replace("webhook version", "").trim();
}

function section(
  options: Options,
  rounds: readonly Round<Name>[],
  peers: readonly string[],
): string {
  const { connections, seconds, warmUpSeconds } = options;
  const ratios = ratiosOf(rounds);
  const of = (name: Name) => rounds.map((round) => round[name]);
  return [
    `${connections} connections, one request in flight on each; ${rounds.length} rounds of ${seconds} s after ${warmUpSeconds} s of warm-up, contestants`,
    `alternate; medians. Each delivery is a ${delivery.provider} ${delivery.event} of ${medianOf(of("ceiling"), "bodyBytes")} bytes with a unique id, body and`,
    "signature. All verify the HMAC of the raw body and parse it. skyhook also stores event and notification with",
    "`synchronous=FULL` before it responds; the others store nothing and run nothing.",
    "",
    environment([pinning, ...peers]),
    "",
    table(
      ["server", ...loadColumns],
      [
        loadRow(ceiling.name, of("ceiling")),
        loadRow(skyhook.name, of("skyhook")),
        loadRow(goWebhook.name, of("goWebhook")),
        loadRow(octokit.name, of("octokit")),
      ],
    ),
    "",
    goalTable([
      {
        goal: "skyhook ÷ webhook (Go), requests/s",
        ratios: ratios("requestsPerSecond", "skyhook", "goWebhook"),
        better: "higher",
      },
      {
        goal: "skyhook ÷ @octokit/webhooks, requests/s",
        ratios: ratios("requestsPerSecond", "skyhook", "octokit"),
        better: "higher",
      },
    ]),
  ].join("\n");
}
