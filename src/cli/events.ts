import { type Command, Option } from "commander";

import { type JsonObject, printable, textAt } from "../base/payload.ts";
import { eventStatuses } from "../event/event-words.ts";
import { deliveryStates } from "../outbound/notification-words.ts";

import { argument, example, wholeNumber } from "./arguments.ts";
import { pastTime } from "./durations.ts";
import { table } from "./output.ts";
import { calling, pagesOf, serverOption, type ServerOptions } from "./server-api.ts";

interface EventsOptions extends ServerOptions {
  readonly limit: number;
  readonly json?: true;
  readonly q?: string;
  readonly from?: string;
  readonly to?: string;
  readonly provider?: string;
  readonly type?: string;
  readonly status?: string;
  readonly subject?: string;
  readonly key?: string;
  readonly delivery?: string;
}

/** The most events of one page of the API. */
const pageSize = 100;

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  program
    .command("events")
    .description("list and search events, newest first (through the running server)")
    .option(
      "--q <words>",
      "words in title, actor, subject or data; also deplo* and '\"build failed\"'",
    )
    .option(
      "--since, --from <time>",
      "received since: 2h, 7d or 2026-11-21T09:00:00Z",
      argument(pastTime),
    )
    .option("--until, --to <time>", "received before, in the same form", argument(pastTime))
    .option("--provider <name>", "of this provider")
    .option("--type <type>", "of this type, or of a group such as 'deploy.*'")
    .addOption(new Option("--status <status>", "status of the event").choices(eventStatuses))
    .option("--subject <id>", "about this resource")
    .option("--key <key>", "with this idempotency key")
    .addOption(
      new Option("--delivery <state>", "state of its notifications").choices(deliveryStates),
    )
    .option(
      "--limit <number>",
      "maximum number of events to print",
      argument(wholeNumber(999_999)),
      20,
    )
    .option("--json", "one JSON object per line")
    .addOption(serverOption())
    .addHelpText("after", example("skyhook events --delivery dead --since 2h --type 'deploy.*'"))
    .action((options: EventsOptions) => events(options, env));
}

/** `skyhook events`. */
async function events(options: EventsOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const call = calling(options, env, { path: "/v1/events", role: "operator" });
  let printed = 0;
  const print = options.json === true ? printLines : printTable;
  for await (const page of pagesOf(call, parametersOf(options))) {
    const wanted = page.slice(0, options.limit - printed);
    if (wanted.length > 0) print(wanted, printed === 0);
    printed += wanted.length;
    if (printed === options.limit) break;
  }
  if (printed === 0) console.error("No events found.");
}

function parametersOf(options: EventsOptions): Readonly<Record<string, string>> {
  const { limit, json: _, url: __, key, ...filters } = options;
  return {
    include: "delivery",
    limit: String(Math.min(limit, pageSize)),
    ...filters,
    ...(key !== undefined && { idempotencyKey: key }),
  };
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
