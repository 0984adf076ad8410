import { type Command, Option } from "commander";

import { eventStatuses } from "../event/event-words.ts";

import { UsageError } from "./output.ts";
import { programName } from "./program.ts";

/** Which events of the server's stream a command follows. */
export interface StreamFilters {
  readonly provider?: string;
  readonly type?: string;
  readonly status?: string;
  readonly subject?: string;
  readonly key?: string;
  readonly q?: string;
}

/** Adds the options of `StreamFilters`. `what`: `events`, for example. Refuses those that only a list can have. */
export function withStreamFilters(command: Command, what: string): Command {
  return command
    .option("--provider <provider>", `only ${what} of this provider`)
    .option("--type <type>", "only events of this type, or of a group such as 'deploy.*'")
    .addOption(
      new Option("--status <status>", "only events with this status").choices(eventStatuses),
    )
    .option("--subject <id>", "only events about this resource")
    .option("--key <key>", "only the event with this idempotency key")
    .option(
      "--q <words>",
      "only events with these words in title, actor, subject or data; also deplo* and '\"build failed\"'",
    )
    .addOption(
      onlyInLists("--delivery", "<state>", "When an event arrives, nothing has been delivered yet"),
    )
    .addOption(onlyInLists("--until", "<time>", "New events have no end"));
}

/** An option that a user of `skyhook events` may try. */
function onlyInLists(name: string, value: string, reason: string): Option {
  return new Option(`${name} ${value}`).hideHelp().argParser((given: string) => {
    throw new UsageError(
      `${reason}. To list stored events: ${programName} events ${name} ${given}`,
    );
  });
}

/** The query of the stream, with more parameters. */
export function streamQuery(
  { provider, type, status, subject, key, q }: StreamFilters,
  more: Readonly<Record<string, string | undefined>>,
): URLSearchParams {
  const query = new URLSearchParams();
  const given = { provider, type, status, subject, idempotencyKey: key, q, ...more };
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) query.set(name, value);
  }
  return query;
}
