import type { Command } from "commander";

import { isObject, itemsAt, type JsonObject, textAt } from "../../base/payload.ts";
import { replayFilters } from "../../events/event-filters.ts";
import { argument, example, wholeNumber } from "../kit/arguments.ts";
import { withFilters } from "../kit/filter-options.ts";
import { painter, UsageError } from "../kit/output.ts";
import { calling, serverOption } from "../kit/server-api.ts";

import { type BulkOptions, bulkReplay, limitingOptions } from "./bulk-replay.ts";

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const command = program
    .command("replay")
    .description("interpret stored events again and resend their notifications")
    .argument("[event id]", "for example evt_0193…");
  withFilters(command, replayFilters)
    .option("--rate <number>", "events per second; default: 50", argument(wholeNumber(1_000)))
    .option("--include-delivered", "also replay events that were delivered: sent a second time")
    .option("--dry-run", "count the events and show what would change; replay nothing")
    .option("--yes", "do not ask, in a terminal, before many events are replayed")
    .option("--stop <replay id>", "stop a replay of many events")
    .option("--resume <replay id>", "continue a stopped replay")
    .addOption(serverOption())
    .addHelpText(
      "after",
      example(
        "skyhook replay evt_019a9f0c5d7b7c3a8e21d4f60b7a9c55",
        "skyhook replay --from 2h --delivery dead --dry-run",
        "skyhook replay --q '\"build failed\"' --dry-run",
      ),
    )
    .action((id: string | undefined, options: BulkOptions) => replay(id, options, env));
}

/** `skyhook replay`: makes the server replay one event, or those that match. */
async function replay(
  id: string | undefined,
  options: BulkOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { server: _, ...filters } = options;
  const isBulk = Object.keys(filters).length > 0;
  if ((id === undefined) !== isBulk) {
    throw new UsageError(`Name one event id, or choose events with ${limitingOptions}`);
  }
  await (id === undefined ? bulkReplay(options, env) : replayOne(id, options, env));
}

/** Larger than the largest accepted body with every byte escaped. */
const maxEventBytes = 256 * 1024 * 1024;

async function replayOne(id: string, options: BulkOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const of = { path: "/v1/events", role: "operator", maxBytes: maxEventBytes } as const;
  const call = calling(options, env, of);
  const path = `/${encodeURIComponent(id)}`;
  const settled = notificationsOf(await call("GET", path)).filter(
    (each) => each["status"] === "delivered",
  );
  const after = await call("POST", `${path}/replay`);
  const known = new Set(settled.map((each) => each["id"]));
  const sent = notificationsOf(after).filter((each) => !known.has(each["id"]));

  const what = `${id} ${textAt(after, "type") ?? ""}: ${textAt(after, "title") ?? ""}`;
  console.log(`${painter(env)("green", "replayed")} ${what}`);
  if (sent.length === 0) {
    const isDelivered = settled.length > 0;
    console.log(
      isDelivered
        ? "all notifications are delivered"
        : "no notifications: this type of event has none",
    );
  }
  for (const notification of sent) {
    const fact = (name: string) => textAt(notification, name) ?? "";
    console.log(`${fact("id")} ${fact("status")} ${fact("severity")}: ${fact("title")}`);
  }
}

const notificationsOf = (event: JsonObject) => itemsAt(event, "notifications").filter(isObject);
