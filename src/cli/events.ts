import type { Command } from "commander";

import { type JsonObject, printable, textAt } from "../base/payload.ts";
import { eventFilters } from "../events/event-filters.ts";

import { argument, example, wholeNumber } from "./arguments.ts";
import { filtersIn, type GivenFilters, withFilters } from "./filter-options.ts";
import { table } from "./output.ts";
import { calling, pagesOf, serverOption, type ServerOptions } from "./server-api.ts";

interface EventsOptions extends ServerOptions, GivenFilters<typeof eventFilters> {
  readonly limit: number;
  readonly json?: true;
}

/** The most events of one page of the API. */
const pageSize = 100;

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const command = program
    .command("events")
    .description("list and search events, newest first (through the running server)");
  withFilters(command, eventFilters)
    .option(
      "--limit <number>",
      "maximum number of events to print",
      argument(wholeNumber(999_999)),
      20,
    )
    .option("--json", "one JSON object per line")
    .addOption(serverOption())
    .addHelpText("after", example("skyhook events --delivery dead --from 2h --type 'deploy.*'"))
    .action((options: EventsOptions) => events(options, env));
}

/** `skyhook events`. */
async function events(options: EventsOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const call = calling(options, env, { path: "/v1/events", role: "operator" });
  let printed = 0;
  const print = options.json === true ? printLines : printTable;
  const limit = String(Math.min(options.limit, pageSize));
  const parameters = { include: "delivery", limit, ...filtersIn(eventFilters, options) };
  for await (const page of pagesOf(call, parameters)) {
    const wanted = page.slice(0, options.limit - printed);
    if (wanted.length > 0) print(wanted, printed === 0);
    printed += wanted.length;
    if (printed === options.limit) break;
  }
  if (printed === 0) console.error("No events found.");
}

function printLines(page: readonly JsonObject[]): void {
  for (const event of page) console.log(JSON.stringify(event));
}

const head = ["received", "delivery", "provider", "type", "title", "id"];
const fields = ["createdAt", "delivery", "provider", "type", "title", "id"];
const longestCell = 60;

function printTable(page: readonly JsonObject[], isFirst: boolean): void {
  const rows = page.map((event) =>
    fields.map((field) => printable(textAt(event, field) ?? "-", longestCell) ?? "-"),
  );
  console.log(table(isFirst ? [head, ...rows] : rows));
}
