import { type Command, Option } from "commander";

import type { Filters } from "../base/filters.ts";
import { streamFilters } from "../events/event-filters.ts";
import { byBrand } from "../inbound/providers/brand.ts";
import { catalogue } from "../inbound/providers/catalogue.ts";

import { argument, helpOf } from "./arguments.ts";
import { pastTime } from "./durations.ts";
import { UsageError } from "./output.ts";
import { programName } from "./program.ts";

/** The given filters, as the API takes them. */
export type GivenFilters<Defined extends Filters> = {
  readonly [Name in keyof Defined]?: string;
};

/** Adds an option for each filter. Refuses the names that options had before. */
export function withFilters(command: Command, defined: Filters): Command {
  for (const [name, filter] of Object.entries(defined)) command.addOption(optionOf(name, filter));
  for (const [before, now] of renamed) {
    if (now in defined) command.addOption(renamedOption(before, now));
  }
  return command;
}

const renamed = [
  ["--since", "from"],
  ["--until", "to"],
  ["--key", "idempotencyKey"],
] as const;

/** Refuses an option's earlier name. */
export function renamedOption(before: string, now: string): Option {
  return refused(before, () => `${before} is now ${flagOf(now)}`);
}

/** `--idempotency-key` */
export function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function optionOf(name: string, filter: Filters[string]): Option {
  const { kind, label, description, example } = filter;
  const value = kind === "instant" ? "time" : (label.toLowerCase().split(" ").at(-1) ?? "");
  const times = kind === "instant" ? ": 2h, 7d or 2026-11-21T09:00:00Z" : "";
  const such = example === undefined ? "" : `, such as '${example}'`;
  const help = `${helpOf(description)}${times}${such}`;
  const option = new Option(`${flagOf(name)} <${value}>`, help);
  if (kind === "instant") return option.argParser(argument(pastTime));
  // The server knows ids only; `github` is what people type.
  if (name === "provider") return option.argParser((text) => byBrand(text, catalogue)?.id ?? text);
  return kind === "word" ? option.choices(filter.words) : option;
}

function refused(flag: string, reasonFor: (given: string) => string): Option {
  return new Option(`${flag} <value>`).hideHelp().argParser((given: string) => {
    throw new UsageError(reasonFor(given));
  });
}

/** Adds the filters of the stream of events. Refuses those that only a list can have. */
export function withStreamFilters(command: Command): Command {
  withFilters(command, streamFilters);
  for (const [flag, reason, listFlag = flag] of onlyInLists) {
    // `listen --to` names where to send.
    if (command.options.some(({ long }) => long === flag)) continue;
    command.addOption(
      refused(flag, (given) => {
        const instead = `${programName} events ${listFlag} ${given}`;
        return `${reason}. To list stored events: ${instead}`;
      }),
    );
  }
  return command;
}

const nothingYet = "When an event arrives, nothing has been delivered yet";
const noEnd = "New events have no end";
/** Options that a user of `skyhook events` may try. */
const onlyInLists: readonly (readonly [flag: string, reason: string, listFlag?: string])[] = [
  ["--delivery", nothingYet],
  ["--destination", nothingYet],
  ["--to", noEnd],
  ["--until", noEnd, "--to"],
];

/** Those of `options` that are filters. */
export function filtersIn<const Defined extends Filters>(
  defined: Defined,
  options: GivenFilters<Defined>,
): Readonly<Record<string, string>> {
  const given = Object.keys(defined).map((name) => [name, options[name]] as const);
  return Object.fromEntries(
    given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
