import type { Command } from "commander";

import { isObject, isTrueAt, itemsAt, type JsonObject, textAt } from "../base/payload.ts";
import { readConfig } from "../config/config.ts";
import { replayFilters } from "../events/event-filters.ts";
import { undeliveredStatuses } from "../outbound/notification-words.ts";

import { argument, example, wholeNumber } from "./arguments.ts";
import { type BulkOptions, bulkReplay, limitingOptions } from "./bulk-replay.ts";
import { withFilters } from "./filter-options.ts";
import { counted, type Paint, painter, UsageError } from "./output.ts";
import { progress } from "./progress.ts";
import { type Answer, isItRunning, localUrl, problemOf, request } from "./request.ts";
import { serverOption } from "./server-api.ts";
import { serverTokens } from "./server-tokens.ts";

interface ReplayOptions extends BulkOptions {
  readonly undelivered?: true;
}

export function declare(program: Command, env: NodeJS.ProcessEnv): void {
  const command = program
    .command("replay")
    .description("interpret stored events again and resend their notifications")
    .argument("[event id]", "for example evt_0193…")
    .option("--undelivered", "every event with a notification that is retrying or dead");
  withFilters(command, replayFilters)
    .option("--rate <number>", "events per second; default: 50", argument(wholeNumber(1_000)))
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
    .action((id: string | undefined, options: ReplayOptions) => replay(id, options, env));
}

/**
 * `skyhook replay`: makes the server replay one event, all events with undelivered notifications, or those that
 * match.
 */
export async function replay(
  id: string | undefined,
  { undelivered, ...bulk }: ReplayOptions,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { url, ...filters } = bulk;
  const isBulk = Object.keys(filters).length > 0;
  if ([id !== undefined, undelivered !== undefined, isBulk].filter(Boolean).length !== 1) {
    throw new UsageError(
      `Name one event id, or pass --undelivered for all events with undelivered notifications, or choose events with ${limitingOptions}`,
    );
  }
  if (isBulk) return bulkReplay(bulk, env);
  const config = readConfig(env);
  const base = url ?? localUrl(config);
  const mint = serverTokens(config, env, "operator");
  const paint = painter(env);
  if (id !== undefined) return replayOne({ base, mint, paint }, id, false);

  const ids = await undeliveredEvents({ base, mint, paint });
  const failed = await replayAll({ base, mint, paint }, ids);
  const done = ids.length - failed;
  console.log(
    ids.length === 0 ? "all notifications are delivered" : `${counted(done, "event")} replayed`,
  );
  if (failed > 0) throw new Error(`${counted(failed, "event")} not replayed: each is named above`);
}

/** Replays all events, skipping those that fail on their own. Returns the number of failed events. */
async function replayAll(server: Server, ids: readonly string[]): Promise<number> {
  const bar = progress("Replaying", ids.length);
  let failed = 0;
  try {
    for (const [index, id] of ids.entries()) {
      bar.at(index, `${index} of ${ids.length}`, [index, "events"]);
      try {
        await replayOne(server, id, true);
      } catch (error) {
        if (!(error instanceof ResponseError) || !skippedStatuses.includes(error.status))
          throw error;
        failed += 1;
        console.error(`not replayed ${id}: ${error.message}`);
      }
    }
  } finally {
    bar.end();
  }
  return failed;
}

/** Statuses that concern one event only: it was deleted meanwhile, or this version cannot replay it. */
const skippedStatuses: readonly number[] = [404, 500];

class ResponseError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

interface Server {
  readonly base: string;
  /** Creates a token for the next one or two requests. */
  readonly mint: () => Promise<string>;
  readonly paint: Paint;
}

/** `onlyUndelivered`: notifications that were delivered since the list was read are not sent again. */
async function replayOne(
  { base, mint, paint }: Server,
  id: string,
  onlyUndelivered: boolean,
): Promise<void> {
  const address = `${base}/v1/events/${encodeURIComponent(id)}`;
  const headers = { authorization: `Bearer ${await mint()}` };
  const before = listIn(await requestEvent(address, { headers }), "notifications");
  const replayAddress = `${address}/replay?onlyUndelivered=${onlyUndelivered}`;
  const after = await requestEvent(replayAddress, { method: "POST", headers });
  const settled = before.filter((notification) => notification["status"] === "delivered");
  const known = new Set(settled.map((notification) => notification["id"]));
  const sent = listIn(after, "notifications").filter(({ id: one }) => !known.has(one));

  const title = textAt(after.json, "title") ?? "";
  console.log(`${paint("green", "replayed")} ${id} ${textAt(after.json, "type") ?? ""}: ${title}`);
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

/** Larger than the largest accepted body with every byte escaped. */
const maxEventBytes = 256 * 1024 * 1024;

function requestEvent(address: string, init: RequestInit): Promise<Answer> {
  return request(address, init, isItRunning, maxEventBytes);
}

/** The events with a dead or retrying notification, oldest first. */
async function undeliveredEvents({ base, mint }: Server): Promise<readonly string[]> {
  const ids = new Set<string>();
  for (const status of undeliveredStatuses) {
    const query = new URLSearchParams({ status, limit: "100" });
    for (let hasMore = true; hasMore;) {
      const headers = { authorization: `Bearer ${await mint()}` };
      const page = await request(
        `${base}/v1/notifications?${query.toString()}`,
        { headers },
        isItRunning,
      );
      for (const found of listIn(page, "data")) ids.add(textAt(found, "eventId") ?? "");
      query.set("cursor", textAt(page.json, "pagination", "nextCursor") ?? "");
      hasMore = isTrueAt(page.json, "pagination", "hasMore");
    }
  }
  return [...ids].toSorted();
}

/** The objects of a list in a response. Throws a `ResponseError` for an error response. */
function listIn(answer: Answer, name: string): readonly JsonObject[] {
  if (answer.ok && answer.json !== null) return itemsAt(answer.json, name).filter(isObject);
  const hint =
    answer.status === 401
      ? ". The server has another signing key: use its DATA_DIR or JWT_SECRET or, with JWKS_URL, a token that has not expired"
      : "";
  const { status } = answer;
  throw new ResponseError(status, `The server answers ${status} ${problemOf(answer)}${hint}`);
}
