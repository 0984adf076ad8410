import { isObject, itemsAt, type JsonObject, textAt } from "../../base/payload.ts";
import { programName } from "../../base/program-name.ts";
import {
  defaultRatePerSecond,
  limitingFilters,
  replayFilters,
} from "../../events/event-filters.ts";
import type { ReplayCounts } from "../../events/replay.ts";
import { messageOf } from "../kit/errors.ts";
import { filtersIn, flagOf, type GivenFilters } from "../kit/filter-options.ts";
import { counted, note, table, UsageError } from "../kit/output.ts";
import { progress, timeOf } from "../kit/progress.ts";
import { type Call, calling, type ServerOptions } from "../kit/server-api.ts";

/** Which events to replay, and how. */
export interface BulkOptions extends ServerOptions, GivenFilters<typeof replayFilters> {
  readonly rate?: number;
  readonly includeDelivered?: true;
  readonly dryRun?: true;
  /** Does not ask. */
  readonly yes?: true;
  /** The id of a replay. */
  readonly stop?: string;
  readonly resume?: string;
}

/** How often the server is asked for the progress. */
const lookIntervalMs = 500;

/** To send more than these a second time, their number must be typed. */
const mostByKeystroke = 1_000;

/** One of these is required. */
const limitingOptions = limitingFilters
  .map(flagOf)
  .join(", ")
  .replace(/, (?=\S+$)/, " or ");

/** Previews, starts, stops or resumes a replay of many events. Follows it to its end. */
export async function bulkReplay(options: BulkOptions, env: NodeJS.ProcessEnv): Promise<void> {
  const { stop, resume, server: _, ...choice } = options;
  const named = [stop, resume].filter((id) => id !== undefined);
  if (named.length > 1 || (named.length === 1 && Object.keys(choice).length > 0)) {
    throw new UsageError("Pass --stop or --resume alone");
  }
  if (named.length === 0 && limitingFilters.every((name) => options[name] === undefined)) {
    throw new UsageError(
      `Name one event id, or choose events with ${limitingOptions}, so that not all are replayed`,
    );
  }
  const call = calling(options, env, { path: "/v1/replays", role: "operator" });
  if (stop !== undefined) {
    printEnd(await call("POST", `/${encodeURIComponent(stop)}/stop`));
    return;
  }
  if (resume !== undefined) {
    return follow(call, await call("POST", `/${encodeURIComponent(resume)}/resume`));
  }
  const { rate = defaultRatePerSecond, dryRun, yes, includeDelivered = false } = options;
  const filters = { ...filtersIn(replayFilters, options), onlyUndelivered: !includeDelivered };
  if (dryRun === true) return printPreview(await call("POST", "/preview", filters), rate);
  const isAsked = yes === undefined && process.stdin.isTTY;
  if (yes === undefined && includeDelivered && !isAsked) {
    throw new UsageError(
      "With --include-delivered, receivers get events a second time. Look at it with --dry-run, then add --yes",
    );
  }
  const chosen = isAsked ? await agreed(call, filters, rate) : filters;
  if (chosen === null) return note("Nothing is replayed");
  return follow(call, await call("POST", "", { ...chosen, ratePerSecond: rate }));
}

type Chosen = Readonly<Record<string, string | boolean>>;

/** Shows what would be replayed, and asks. Returns the filters of exactly these events; null for no. */
async function agreed(call: Call, filters: Chosen, rate: number): Promise<Chosen | null> {
  const preview = await call("POST", "/preview", filters);
  const newest = itemsAt(preview, "newest").filter(isObject);
  const facts = ["createdAt", "provider", "type", "title"];
  console.log(table(newest.map((event) => facts.map((name) => textAt(event, name) ?? ""))));
  printPreview(preview, rate);
  const total = numberIn(preview, "total");
  if (total === 0) return null;
  // Events that arrive while the question is open are not part of the answer.
  const to = textAt(preview, "filters", "to");
  const isAgreed =
    filters["onlyUndelivered"] === false && total > mostByKeystroke
      ? prompt(`Some were delivered already. To replay all of them, type ${total}:`) === `${total}`
      : confirm("Replay them?");
  return isAgreed ? { ...filters, ...(to !== null && { to }) } : null;
}

const numberIn = (value: JsonObject, name: string) => Number(textAt(value, name) ?? 0);
const events = (count: number) => counted(count, "event");
/** `, in 33 min at 50/s`. Replays of other events at the same time, or a slow server, make it longer. */
const durationOf = (count: number, rate: number) =>
  count <= rate ? "" : `, in ${timeOf(count / rate)} at ${rate}/s`;

export function printPreview(preview: JsonObject, rate: number): void {
  const [total = 0, compared, differing] = ["total", "compared", "differing"].map((name) =>
    numberIn(preview, name),
  );
  console.log(`${events(total)} would be replayed${durationOf(total, rate)}`);
  const delivered = numberIn(preview, "delivered");
  if (delivered > 0 && total === numberIn(preview, "undelivered")) {
    const [were, them] = delivered === 1 ? ["was", "it"] : ["were", "them"];
    console.log(
      `${events(delivered)} ${were} delivered already; to replay ${them} too: --include-delivered`,
    );
  }
  if (compared === 0) return;
  console.log(`${differing} of the newest ${compared} would be interpreted differently`);
  const receivers = itemsAt(preview, "repeatedTo")
    .filter(isObject)
    .map((it) => `${numberIn(it, "events")} to ${textAt(it, "destination") ?? ""}`);
  console.log(
    `${numberIn(preview, "repeated")} of the newest ${compared} would be sent a second time${receivers.length > 0 ? `: ${receivers.join(", ")}` : ""}`,
  );
  for (const example of itemsAt(preview, "examples").filter(isObject)) {
    const fact = (name: string) => textAt(example, name) ?? "";
    console.log(`${fact("id")} ${fact("provider")} ${fact("type")}`);
    for (const change of itemsAt(example, "changes").filter(isObject)) {
      const value = (name: string) => JSON.stringify(textAt(change, name));
      console.log(`  ${textAt(change, "field") ?? ""}: ${value("stored")} -> ${value("now")}`);
    }
  }
}

const outcomes = [
  "resent",
  "notified",
  "silent",
  "deleted",
  "failed",
] as const satisfies readonly (keyof ReplayCounts)[];

function doneIn(replay: JsonObject): number {
  return outcomes.reduce((sum, name) => sum + numberIn(replay, name), 0);
}

/** Shows the progress until the replay ends. Ending this command does not stop it. */
async function follow(call: Call, started: JsonObject): Promise<void> {
  const id = textAt(started, "id") ?? "";
  const total = numberIn(started, "total");
  const duration = durationOf(total, numberIn(started, "ratePerSecond"));
  note(`${id}: ${events(total)}${duration}; to stop it: ${programName} replay --stop ${id}`);
  const bar = progress("Replaying", Math.max(1, total));
  let replay = started;
  try {
    while (textAt(replay, "status") === "running") {
      const done = doneIn(replay);
      bar.at(done, `${done} of ${total}`, [done, "events"]);
      await Bun.sleep(lookIntervalMs);
      replay = await call("GET", `/${encodeURIComponent(id)}`);
    }
  } catch (error) {
    const detail = "The replay goes on without this command";
    throw new Error(
      `${messageOf(error)}. ${detail}; to follow it: ${programName} replay --resume ${id}`,
      { cause: error },
    );
  } finally {
    bar.end();
  }
  printEnd(replay);
}

function printEnd(replay: JsonObject): void {
  const counts = outcomes.map((name) => `${numberIn(replay, name)} ${labels[name]}`);
  const changed = numberIn(replay, "changed");
  const status = textAt(replay, "status") ?? "";
  console.log(`${status}: ${doneIn(replay)} of ${events(numberIn(replay, "total"))}`);
  console.log(`${counts.join(", ")}; ${changed} interpreted differently`);
  if (status === "stopped") {
    note(`to continue: ${programName} replay --resume ${textAt(replay, "id") ?? ""}`);
  }
  const failed = numberIn(replay, "failed");
  if (failed === 0) return;
  throw new Error(`${events(failed)} failed; the last: ${textAt(replay, "lastError") ?? ""}`);
}

const labels = {
  resent: "sent again",
  notified: "with new notifications",
  silent: "without notifications",
  deleted: "deleted meanwhile",
  failed: "failed",
} as const;
