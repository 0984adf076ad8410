import type { Command } from "commander";

import { isObject, itemsAt, type JsonObject, textAt } from "../../base/payload.ts";
import { defaultRatePerSecond, replayFilters } from "../../events/event-filters.ts";
import { argument, example, wholeNumber } from "../kit/arguments.ts";
import { filtersIn, flagOf, withFilters } from "../kit/filter-options.ts";
import { painter, UsageError } from "../kit/output.ts";
import { calling, serverOption } from "../kit/server-api.ts";

import { type BulkOptions, bulkReplay, printPreview } from "./bulk-replay.ts";

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const command = program
    .command("replay")
    .description("interpret stored events again and resend their notifications")
    .argument("[event id]", "for example evt_0193…");
  withFilters(command, replayFilters)
    .option(
      "--rate <number>",
      `events per second; default: ${defaultRatePerSecond}`,
      argument(wholeNumber(1_000)),
    )
    .option("--include-delivered", "also replay events that were delivered: sent a second time")
    .option("--dry-run", "count the events and show what would change; replay nothing")
    .option("--yes", "do not ask; required with --include-delivered outside a terminal")
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
  if (id === undefined) return bulkReplay(options, env);
  const choice = ["stop", "resume", ...Object.keys(filtersIn(replayFilters, options))] as const;
  const given = choice.filter((name) => name in options).map(flagOf);
  if (given.length > 0) {
    throw new UsageError(`An id names one event: leave out ${given.join(", ")}`);
  }
  await replayOne(id, options, env);
}

/** Larger than the largest accepted body with every byte escaped. */
const maxEventBytes = 256 * 1024 * 1024;

async function replayOne(id: string, options: BulkOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const of = { path: "/v1/events", role: "operator", maxBytes: maxEventBytes } as const;
  const call = calling(options, env, of);
  const path = `/${encodeURIComponent(id)}`;
  const before = await call("GET", path);
  if (options.dryRun === true) return previewOne(before, options, env);
  const settled = notificationsOf(before).filter((each) => each["status"] === "delivered");
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

/** A replay of one event does not look at whether it was delivered. */
async function previewOne(event: JsonObject, options: BulkOptions, env: NodeJS.ProcessEnv) {
  const call = calling(options, env, { path: "/v1/replays", role: "operator" });
  const idempotencyKey = textAt(event, "idempotencyKey");
  const body = { idempotencyKey, onlyUndelivered: false };
  printPreview(await call("POST", "/preview", body), defaultRatePerSecond);
}

const notificationsOf = (event: JsonObject) => itemsAt(event, "notifications").filter(isObject);
