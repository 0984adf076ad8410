import { join } from "node:path";

import { alteredCopy, type Change } from "../../support/altered-copy.ts";

import { line, tried } from "./attack-run.ts";
import { attacks } from "./attacks.ts";
import { victims } from "./victim.ts";

/** An error that the program once had, put back into a copy of its source, which an attack must find. */
interface Planted {
  readonly error: string;
  readonly file: string;
  readonly changes: readonly (readonly [from: string, to: string])[];
  /** In other files: such as a limit that hides the error. */
  readonly elsewhere?: readonly Change[];
  readonly attacks: readonly string[];
}

export const planted: readonly Planted[] = [
  {
    error: "the cost of a query counts each fragment as often as it is spread",
    file: "src/web/graphql/cost.ts",
    changes: [["before !== undefined || this.#steps", "this.#steps"]],
    attacks: ["fragments-double", "fragments-double-get"],
  },
  {
    error: "two lengths are one that is no number, which no limit compares with",
    file: "src/web/body.ts",
    changes: [["if (Number.isSafeInteger(length)) return length;", "return length;"]],
    attacks: ["length-twice"],
  },
  {
    error: "every chunk of a body is kept as an object, and read at once",
    file: "src/web/body.ts",
    changes: [
      ["  let length = 0;\n", "  let length = 0;\n  const kept: Uint8Array[] = [];\n"],
      ["    length = end;\n", "    length = end;\n    kept.push(value);\n"],
      ["    await nextTurn();\n", ""],
    ],
    attacks: ["one-byte-chunks"],
  },
  {
    error: "every query is compiled on its third run, and kept",
    file: "src/web/graphql/compiled.ts",
    changes: [
      ["runsBeforeCompiling = 32", "runsBeforeCompiling = 2"],
      ["maxCompiledBytes = 32 * 1024 * 1024", "maxCompiledBytes = Infinity"],
    ],
    attacks: ["different-queries"],
  },
  {
    error: "memory is reserved for what is announced",
    file: "src/web/body.ts",
    changes: [
      [
        "const memory = reservation(address);\n",
        "const memory = reservation(address);\n  memory.grow(contentLength ?? 0);\n",
      ],
    ],
    attacks: ["announced-idle"],
  },
  {
    error:
      "requests that need no I/O are answered in the turn of the event loop in which they arrive",
    file: "src/app.ts",
    changes: [["    .wrap(noPipelining)\n", ""]],
    attacks: ["pipelined-flight", "pipelined-errors"],
  },
  {
    error: "the log is written synchronously, and fails the request that it is about",
    file: "src/telemetry/log.ts",
    changes: [[": output,\n  );", ": pino.destination({ dest: fd, sync: true }),\n  );"]],
    attacks: ["log-disk-full", "log-unread"],
  },
  {
    error: "all deliveries of one order are due, and each commit wakes all destinations",
    file: "src/outbound/deliveries/outbox.ts",
    changes: [
      ["blocked: orderKey !== null,", "blocked: false,"],
      ["wake(sentTo.get(event) ?? null);", "wake(null);"],
    ],
    attacks: ["blocked-destinations"],
  },
  {
    error: "each change of a destination reads and compiles all of them, and is not limited",
    file: "src/outbound/deliveries/destination-cache.ts",
    changes: [
      [
        "refreshing.then(() => (id === undefined ? readChanged() : readOne(id)));",
        "refreshing.then(() => (known.clear(), idsByOwner.clear(), readChanged()));",
      ],
      [
        "const own = lazy(() => filterOf(parts, stored));",
        "const own = ((made) => () => made)(filterOf(parts, stored));",
      ],
    ],
    elsewhere: [["src/identity/limiter.ts", "maxUserWrites = 30;", "maxUserWrites = 100_000;"]],
    attacks: ["destination-changes"],
  },
];

/** All texts that a planted error replaces. */
export const changesOf = ({ file, changes, elsewhere = [] }: Planted): readonly Change[] => [
  ...changes.map(([from, to]) => [file, from, to] as const),
  ...elsewhere,
];

/** Tries the attacks on each planted error, and prints a line on each. How many were not found. */
export async function runPlanted(): Promise<number> {
  let missed = 0;
  for (const entry of planted) {
    const { error, attacks: names } = entry;
    using copy = alteredCopy(changesOf(entry));
    await using source = await victims(join(copy.folder, "src/main.ts"));
    console.log(`Planted: ${error}`);
    for (const attack of attacks.filter(({ name }) => names.includes(name))) {
      const victim = await source.start(attack.stdout);
      const verdict = await tried(attack, victim);
      await victim.stop();
      if (verdict.faults.length === 0) missed += 1;
      console.log(line(attack, verdict));
    }
  }
  console.log(missed === 0 ? "All planted errors found" : `${missed} planted errors NOT FOUND`);
  return missed;
}
