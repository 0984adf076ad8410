import { ceiling, delivery, measure, minimal, skyhook } from "./contestants.ts";
import { pinning } from "./processes.ts";
import { environment, goalTable, table } from "./report.ts";
import { inTurns, loadColumns, loadRow, medianOf, ratiosOf, type Round } from "./rounds.ts";
import type { Options, Suite } from "./suite.ts";

/** I1: the processor time, over all threads, of a webhook that is verified, deduplicated and on disk before the response. */
export const ingest: Suite = {
  name: "ingest",
  about: "webhook ingest ÷ a minimal server with the same guarantee (I1)",
  async run(options) {
    const rounds = await inTurns(options.rounds, async () => ({
      ceiling: await measure(ceiling, options),
      minimal: await measure(minimal, options),
      skyhook: await measure(skyhook, options),
    }));
    return section(options, rounds);
  },
};

type Name = "ceiling" | "minimal" | "skyhook";

function section(options: Options, rounds: readonly Round<Name>[]): string {
  const { connections, seconds, warmUp } = options;
  const ratios = ratiosOf<Name>(rounds);
  const of = (name: Name) => rounds.map((round) => round[name]);
  return [
    `${connections} connections, one request in flight on each; ${rounds.length} rounds of ${seconds} s after ${warmUp.toLocaleString("en")} requests of warm-up, contestants`,
    `alternate; medians. Each delivery is a ${delivery.provider} ${delivery.event} of ${medianOf(of("ceiling"), "bodyBytes")} bytes with a unique id, body and`,
    `signature. All except bare Bun.serve verify it, store event and notification in a database file on the`,
    `same disk with \`synchronous=FULL\` and respond after the commit. Afterwards the rows in the database must`,
    `match the acknowledged deliveries. skyhook runs with LOG_LEVEL=warn, the others without a log.`,
    "Goals compare processor time over all threads.",
    "",
    environment([pinning]),
    "",
    table(
      ["server", ...loadColumns],
      [
        loadRow(ceiling.name, of("ceiling")),
        loadRow(minimal.name, of("minimal")),
        loadRow(skyhook.name, of("skyhook")),
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
        goal: "main thread: skyhook ÷ minimal server",
        ratios: ratios("mainCpuMicros", "skyhook", "minimal"),
        better: "lower",
      },
    ]),
  ].join("\n");
}
