import { ceiling, delivery, filled, measure, minimal, skyhook } from "./contestants.ts";
import { table } from "./report.ts";
import { inTurns, loadColumns, loadRow, medianOf, type Round } from "./rounds.ts";
import type { Options, Report, Suite } from "./suite.ts";

/** I1: the processor time, over all threads, of a webhook that is verified, deduplicated and on disk before the response. */
export const ingest: Suite = {
  name: "ingest",
  about: "webhook ingest ÷ a minimal server with the same guarantee (I1)",
  async run(options) {
    const rounds = await inTurns(options.rounds, async () => ({
      ceiling: await measure(ceiling, options),
      minimal: await measure(minimal, options),
      skyhook: await measure(skyhook, options),
      short: await measure(short, options),
      long: await measure(long, options),
    }));
    return report(options, rounds);
  },
};

const [short, long] = [filled(100_000), filled(1_000_000)];
const contestants = { ceiling, minimal, skyhook, short, long };
const names = ["ceiling", "minimal", "skyhook", "short", "long"] as const;
type Name = (typeof names)[number];

function report(options: Options, rounds: readonly Round<Name>[]): Report {
  const { connections, seconds, warmUp } = options;
  const of = (name: Name) => rounds.map((round) => round[name]);
  const micros = (name: Name) => of(name).map(({ cpuMicros }) => cpuMicros);
  const rows = names.map((name) => loadRow(contestants[name].name, of(name)));
  return {
    figures: {
      U: micros("minimal"),
      ingest: micros("skyhook"),
      shortIngest: micros("short"),
      longIngest: micros("long"),
    },
    text: [
      `${connections} connections, one request in flight on each; ${rounds.length} rounds of ${seconds} s after ${warmUp.toLocaleString("en")} requests of warm-up, contestants`,
      `alternate; medians. Each delivery is a ${delivery.provider} ${delivery.event} of ${medianOf(of("ceiling"), "bodyBytes")} bytes with a unique id, body and`,
      `signature. All except bare Bun.serve verify it, store event and notification in a database file on the`,
      `same disk with \`synchronous=FULL\` and respond after the commit. Afterwards the rows in the database must`,
      `match the acknowledged deliveries. skyhook runs with LOG_LEVEL=error, the others without a log.`,
      "",
      table(["server", ...loadColumns], rows),
    ],
  };
}
