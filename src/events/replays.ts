import type { Clock } from "../base/clock.ts";
import { type Context, requireOperator } from "../base/context.ts";
import { AppError } from "../base/errors.ts";
import { readFilters } from "../base/filters.ts";
import { type MakeId, positionIn } from "../base/ids.ts";
import { ownTurns } from "../base/own-turn.ts";
import type { Page, PageRequest } from "../base/page.ts";
import { invalid } from "../base/validation.ts";
import { paginate } from "../db/paginate.ts";
import { write } from "../db/statement.ts";
import type { Storage } from "../db/storage.ts";
import type { Event } from "../event/event.ts";
import type { Audit } from "../identity/audit/audit.ts";
import type { CheckProvider } from "../inbound/providers/provider-filter.ts";
import { receivedBy } from "../outbound/model/deliveries.sql.ts";
import { destinationNamed } from "../outbound/model/destination-named.ts";

import { defaultRatePerSecond, replayFilters } from "./event-filters.ts";
import { changesBetween, type EventReplay, isForUndelivered } from "./event-replay.ts";
import { eventsMatching } from "./event-search.ts";
import { readReplayInput } from "./replay-input.ts";
import { eventsToReplay, needsIndexToReplay } from "./replay-source.ts";
import type { ReplayDifference, ReplayPreview } from "./replay.schema.ts";
import { noReplayCounts, type Replay, type ReplayFailure, type ReplayFilters } from "./replay.ts";
import {
  insertReplay,
  replayById,
  replayFailurePages,
  replayPages,
  resumeReplay,
  runningReplay,
  stopReplay,
} from "./replays.sql.ts";
import type { SearchIndex } from "./search-index.ts";

/** Replays many events. For operators. */
export interface Replays {
  /**
   * Counts the events, and compares some with what this version makes of them. Changes nothing. Throws
   * `validation-failed`, `invalid-body`, `invalid-parameter`, and `unavailable` while events are missing in the search index.
   */
  preview(ctx: Context, body: unknown): Promise<ReplayPreview>;
  /** Throws as `preview`, and `replay-running`. */
  start(ctx: Context, body: unknown): Promise<Replay>;
  /** Throws `not-found`. */
  read(ctx: Context, id: string): Promise<Replay>;
  /** The events that failed, the last first. Throws `not-found`. */
  failures(ctx: Context, id: string, request: PageRequest): Promise<Page<ReplayFailure>>;
  /** Newest first. */
  list(ctx: Context, request: PageRequest): Promise<Page<Replay>>;
  /** Without effect if it is not running. */
  stop(ctx: Context, id: string): Promise<Replay>;
  /** Continues a stopped replay. Without effect if it is not stopped. Throws `replay-running`. */
  resume(ctx: Context, id: string): Promise<Replay>;
}

interface Parts {
  readonly storage: Storage;
  readonly index: Pick<SearchIndex, "caughtUp">;
  readonly replaying: EventReplay;
  readonly checkProvider: CheckProvider;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** Called when a replay is to be carried out. */
  readonly wake: () => void;
}

/** Events that a preview compares. */
const maxCompared = 100;
const maxExamples = 20;
const maxNewest = 10;
/** How long a replay waits for the search index. After a burst of events, a search gives up much sooner. */
const patienceMs = 5_000;
/** While the search index is being built. */
const retryAfterSeconds = 10;

export function replays(parts: Parts): Replays {
  const { storage, index, replaying, checkProvider, audit, clock, makeId, wake } = parts;
  const ownTurn = ownTurns();

  /** A destination may be renamed or removed before the replay ends, so the filters name it by id. */
  async function inputOf(body: unknown, now: number) {
    const { filters, ratePerSecond } = readReplayInput(body, now);
    const destination = await destinationNamed(storage, filters.destination ?? undefined);
    return { filters: { ...filters, destination: destination ?? null }, ratePerSecond };
  }

  async function sourceOf(filters: ReplayFilters) {
    await checkProvider(filters.provider ?? undefined);
    // Unlike a list, a replay must not skip the events that are not indexed yet.
    if (needsIndexToReplay(filters) && !(await index.caughtUp(patienceMs))) throw notIndexed();
    return eventsToReplay(storage, filters);
  }

  async function find(id: string): Promise<Replay> {
    const [found] = await storage.all(replayById, { id });
    if (found === undefined) throw new AppError("not-found", "No replay with this id exists.");
    return found;
  }

  return {
    async preview(ctx, body) {
      requireOperator(ctx);
      const { filters } = await inputOf(body, clock.now());
      const undelivered = await sourceOf({ ...filters, onlyUndelivered: true });
      const matching = await eventsMatching(storage, readFilters(replayFilters, filters));
      const source = filters.onlyUndelivered === true ? undelivered : matching;
      const window = { order: "newest-first", from: null, offset: 0, limit: maxCompared } as const;
      const left = await undelivered.count();
      // An event may have been delivered between the two counts.
      const delivered = Math.max(0, (await matching.count()) - left);
      const events = await source.read(window);
      const differing: ReplayDifference[] = [];
      const repeated: Event["id"][] = [];
      for (const event of events) {
        // Its body may be large.
        await ownTurn();
        const prepared = await replaying.prepare(event, isForUndelivered(filters));
        const changes = changesBetween(event, prepared.event);
        const { id, provider, type } = event;
        if (prepared.isRepeated) repeated.push(id);
        if (changes.length > 0) differing.push({ id, provider, type, changes });
      }
      return {
        filters,
        total: filters.onlyUndelivered === true ? left : left + delivered,
        undelivered: left,
        delivered,
        compared: events.length,
        differing: differing.length,
        examples: differing.slice(0, maxExamples),
        newest: events.slice(0, maxNewest).map(sampleOf),
        repeated: repeated.length,
        repeatedTo: await storage.all(receivedBy, { events: repeated.map(positionIn) }),
      };
    },
    async start(ctx, body) {
      requireOperator(ctx);
      const now = clock.now();
      const { filters, ratePerSecond = defaultRatePerSecond } = await inputOf(body, now);
      if (filters.onlyUndelivered === true && filters.delivery === "delivered")
        throw allDelivered();
      const total = await (await sourceOf(filters)).count();
      const replay: Replay = {
        ...noReplayCounts,
        id: makeId("rpl", now),
        createdAt: new Date(now),
        actor: ctx.actor.id,
        status: "running",
        filters,
        ratePerSecond,
        total,
        updatedAt: new Date(now),
        lastError: null,
      };
      const fresh = { positionAt: null, positionId: null, leasedBy: null, leasedUntil: null };
      await storage.atomically(
        write(insertReplay, { ...replay, ...fresh }, alreadyRunning()),
        audit.entry(
          ctx,
          "replay.started",
          replay.id,
          `${total} ${total === 1 ? "event" : "events"}: ${shown(filters)}`,
        ),
      );
      wake();
      return replay;
    },
    async read(ctx, id) {
      requireOperator(ctx);
      return find(id);
    },
    async failures(ctx, id, request) {
      requireOperator(ctx);
      const { id: replayId } = await find(id);
      return paginate(replayFailurePages(storage, { replayId }), request);
    },
    async list(ctx, request) {
      requireOperator(ctx);
      return paginate(replayPages(storage, {}), request);
    },
    async stop(ctx, id) {
      requireOperator(ctx);
      const replay = await find(id);
      if (replay.status !== "running") return replay;
      await storage.atomically(
        write(stopReplay, { id: replay.id, updatedAt: new Date(clock.now()) }, "stop"),
        audit.entry(ctx, "replay.stopped", replay.id),
      );
      return find(id);
    },
    async resume(ctx, id) {
      requireOperator(ctx);
      const replay = await find(id);
      if (replay.status !== "stopped") return replay;
      const resumed = { id: replay.id, updatedAt: new Date(clock.now()) };
      try {
        await storage.atomically(
          write(resumeReplay, resumed, alreadyRunning()),
          audit.entry(ctx, "replay.resumed", replay.id),
        );
      } catch (error) {
        // The unique index decides between two that start at the same time.
        const [running] = await storage.all(runningReplay, {});
        if (running === undefined) throw error;
        // Another request has just resumed it.
        if (running.id !== replay.id) throw alreadyRunning();
      }
      wake();
      return find(id);
    },
  };
}

function sampleOf({
  id,
  provider,
  type,
  title,
  createdAt,
}: Event): ReplayPreview["newest"][number] {
  return { id, provider, type, title, createdAt };
}

function notIndexed(): AppError {
  return new AppError(
    "unavailable",
    "The search index is being built, so events would be missed. Try again later, or replay without q, subject and delivery, and with onlyUndelivered: false.",
    { retryAfterSeconds },
  );
}

function allDelivered(): AppError {
  const detail =
    "Must be false with the filter delivery=delivered. These notifications are sent a second time";
  return invalid("/onlyUndelivered", detail);
}

function alreadyRunning(): AppError {
  return new AppError(
    "replay-running",
    "Another replay is running. Wait until it has finished, or stop it.",
  );
}

function shown(filters: ReplayFilters): string {
  const given = Object.entries(filters).filter(([, value]) => value !== null);
  return given.map(([name, value]) => `${name} ${String(value)}`).join(", ");
}
