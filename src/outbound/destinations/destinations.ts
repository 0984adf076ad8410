import type { Clock } from "../../base/clock.ts";
import {
  type Context,
  isAdmin,
  isOperator,
  requireAdmin,
  requireOperator,
} from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import type { FiltersOf } from "../../base/filters.ts";
import { isId, type MakeId } from "../../base/ids.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import type { KeyRing } from "../../base/sealing.ts";
import { invalid } from "../../base/validation.ts";
import { paginate } from "../../db/paginate.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { AuditAction } from "../../identity/audit/audit-entry.ts";
import type { Audit } from "../../identity/audit/audit.ts";
import { type Creation, once, reserveKey } from "../../identity/idempotency/idempotent.ts";
import { isSigned } from "../formats/formats.ts";
import { makeSecret } from "../formats/standard-webhooks.ts";
import { overlapMs, readSecrets, sealSecrets } from "../model/destination-secrets.ts";
import {
  type Destination,
  type DestinationState,
  type StoredDestination,
} from "../model/destination.ts";
import {
  deleteDestination,
  destinationById,
  destinationByName,
  destinationPages,
  operatorsDestinationPages,
  recordRecovery,
  updateDestination,
} from "../model/destinations.sql.ts";
import { type PrivateAllowed, rulesFor } from "../transports/address.ts";

import { changedDestination } from "./changed-destination.ts";
import type { destinationFilters } from "./destination-filters.ts";
import {
  type DestinationChanges,
  readDestination,
  readDestinationChanges,
} from "./destination-input.ts";
import type { DestinationWithSecret } from "./destination.schema.ts";
import { insertion, newDestination, noRoom } from "./new-destination.ts";
import { requireNotOfSettings } from "./operator-gateway.ts";

/**
 * Where notifications are sent. Admins manage all destinations; a user those for bookings of their own;
 * operators may also read those of the operators. All throw `insufficient-scope` or, for an unknown or foreign
 * id, `not-found`.
 */
export interface Destinations {
  /**
   * With a key, a retry returns the same (`replayed`), without the secret. Throws `invalid-body`, and
   * `validation-failed` for a bad field, with its place, and if the name is taken or there is no room.
   */
  create(
    ctx: Context,
    body: unknown,
    idempotencyKey?: string | null,
  ): Promise<Creation<DestinationWithSecret>>;
  /** `owner`: only the operators' destinations; for operators. */
  list(
    ctx: Context,
    request: PageRequest,
    filters?: FiltersOf<typeof destinationFilters>,
  ): Promise<Page<Destination>>;
  read(ctx: Context, id: string): Promise<Destination>;
  /** Like `read`, but throws `insufficient-scope` unless the caller may change it. */
  readToChange(ctx: Context, id: string): Promise<Destination>;
  /** Changes the given fields, and stores nothing if all have their values already. Throws `validation-failed`. */
  update(ctx: Context, id: string, body: unknown): Promise<Destination>;
  /** Making it active also closes its circuit. */
  setState(ctx: Context, id: string, state: DestinationState): Promise<Destination>;
  /** Makes a new secret. The old one also signs for 24 hours. Throws `validation-failed` for other formats. */
  rotate(ctx: Context, id: string): Promise<DestinationWithSecret>;
  /** Removes the destination with its deliveries. */
  remove(ctx: Context, id: string): Promise<Destination>;
}

interface Parts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly privateAllowed: PrivateAllowed;
  readonly keys: () => KeyRing;
  /** Keys for the hashes of requests, because requests hold secrets. */
  readonly hashKeys: () => KeyRing;
  /** Called after a change was committed. */
  readonly changed: (id: Destination["id"]) => Promise<void>;
  /** The writes that go before the removal of a destination, in its transaction. */
  readonly removing: (id: Destination["id"]) => readonly Write<unknown>[];
  readonly audit: Audit;
}

export function destinations(parts: Parts): Destinations {
  const { storage, clock, keys } = parts;

  async function findToRead(ctx: Context, id: string): Promise<StoredDestination> {
    const [found] = isId("dst", id) ? await storage.all(destinationById, { id }) : [];
    if (found !== undefined && mayRead(ctx, found)) return found;
    throw new AppError("not-found", "No destination has this id");
  }

  async function findToChange(ctx: Context, id: string): Promise<StoredDestination> {
    const found = await findToRead(ctx, id);
    if (found.ownerId !== ctx.actor.id) requireAdmin(ctx);
    return found;
  }

  /** Stores a change with its audit entries. */
  async function save(
    ctx: Context,
    stored: StoredDestination,
    next: StoredDestination,
    entries: readonly (readonly [action: AuditAction, detail?: string])[],
    writes: readonly Write<unknown>[] = [],
  ): Promise<Destination> {
    // Later than before, also within one millisecond, so that a concurrent change is noticed.
    const updatedAt = new Date(Math.max(clock.now(), stored.updatedAt.getTime() + 1));
    const saved = { ...next, updatedAt };
    const isRenamed = next.name !== stored.name;
    if (isRenamed) await requireFreeName(next);
    try {
      await storage.atomically(
        write(updateDestination, { ...saved, before: stored.updatedAt }, changedMeanwhile),
        ...entries.map(([action, detail]) => entryAbout(ctx, saved, action, detail)),
        ...writes,
      );
    } catch (error) {
      // A concurrent request may have taken the name since it was free: the unique index then refuses it.
      if (isRenamed) await requireFreeName(next);
      throw error;
    }
    await parts.changed(stored.id);
    return shown(saved);
  }

  function entryAbout(ctx: Context, { id }: Destination, action: AuditAction, detail?: string) {
    return parts.audit.entry(ctx, action, id, detail);
  }

  async function requireFreeName({ id, name, ownerId }: Destination): Promise<void> {
    const [other] = await storage.all(destinationByName, { name, ownerId });
    if (other !== undefined && other.id !== id) throw nameTaken;
  }

  async function insert(
    ctx: Context,
    stored: StoredDestination,
    reserving: readonly Write<never>[],
  ): Promise<void> {
    try {
      await storage.atomically(
        insertion(stored, notInserted),
        entryAbout(ctx, stored, "destination.created", identityOf(stored)),
        ...reserving,
      );
    } catch (error) {
      if (error !== notInserted) throw error;
      await requireFreeName(stored);
      throw await noRoom(storage, stored.ownerId);
    }
    await parts.changed(stored.id);
  }

  /** Stores nothing, not even an audit entry, if no value changes. */
  async function change(
    ctx: Context,
    stored: StoredDestination,
    changes: DestinationChanges,
  ): Promise<Destination> {
    const { next, fields, changes: lines } = changedDestination(parts, stored, changes);
    const isResumed =
      changes.state === "active" && (fields.includes("state") || stored.openUntil !== null);
    if (fields.length === 0 && !isResumed) return shown(stored);
    const entries = [
      ...(lines.length > 0 ? [["destination.updated", lines.join("\n")] as const] : []),
      ...(isResumed || fields.includes("state") ? [[stateActions[next.state]] as const] : []),
    ];
    if (!isResumed) return save(ctx, stored, next, entries);
    // After a resume, deliveries are sent at once, not after the next probe.
    const healthy = { ...next, failures: 0, openUntil: null, failingSince: null };
    return save(ctx, stored, healthy, entries, [write(recordRecovery, { id: stored.id })]);
  }

  return {
    async create(ctx, body, key = null) {
      const ownerId = isAdmin(ctx) ? null : ctx.actor.id;
      const input = readDestination(body, rulesFor(parts.privateAllowed, ownerId), ownerId);
      const now = new Date(clock.now());
      const { actor } = ctx;
      const { hashKeys } = parts;
      const keyed = { actor, operation: "destination", key, input, hashKeys, now } as const;
      return once(
        storage,
        keyed,
        async () => {
          const stored = newDestination(parts, input, ownerId, now);
          await insert(ctx, stored, reserveKey(keyed, stored.id));
          const isOwn = isSigned(stored.format);
          return { ...shown(stored), secret: isOwn ? readSecrets(keys(), stored).secret : null };
        },
        async (id) => ({ ...shown(await findToChange(ctx, id)), secret: null }),
      );
    },
    async list(ctx, request, { owner } = {}) {
      const own = { ownerId: ctx.actor.id };
      if (owner === "operators") {
        requireOperator(ctx);
        return paginate(destinationPages(storage, { ownerId: null }), request);
      }
      if (isAdmin(ctx)) return paginate(destinationPages(storage, {}), request);
      const pages = isOperator(ctx) ? operatorsDestinationPages : destinationPages;
      return paginate(pages(storage, own), request);
    },
    async read(ctx, id) {
      return shown(await findToRead(ctx, id));
    },
    async readToChange(ctx, id) {
      return shown(await findToChange(ctx, id));
    },
    async update(ctx, id, body) {
      const changes = readDestinationChanges(body);
      const stored = await findToChange(ctx, id);
      return change(ctx, stored, changes);
    },
    async setState(ctx, id, state) {
      return change(ctx, await findToChange(ctx, id), { state });
    },
    async rotate(ctx, id) {
      const stored = await findToChange(ctx, id);
      requireNotOfSettings(stored, { secret: "" });
      const before = readSecrets(keys(), stored);
      if (!isSigned(stored.format) || before.secret === null) {
        throw invalid("/format", `The format ${stored.format} has no secret that Skyhook makes`);
      }
      const secret = makeSecret();
      const previous = { secret: before.secret, untilMs: clock.now() + overlapMs };
      const sealed = sealSecrets(keys(), stored.id, { ...before, secret, previous });
      const rotated = await save(ctx, stored, { ...stored, sealed }, [["destination.rotated"]]);
      return { ...rotated, secret };
    },
    async remove(ctx, id) {
      const stored = await findToChange(ctx, id);
      requireNotOfSettings(stored, { name: "" });
      const removed = { id: stored.id };
      await storage.atomically(
        ...parts.removing(stored.id),
        write(deleteDestination, removed),
        entryAbout(ctx, stored, "destination.removed", identityOf(stored)),
      );
      await parts.changed(stored.id);
      return shown(stored);
    },
  };
}

const stateActions = {
  active: "destination.resumed",
  paused: "destination.paused",
  disabled: "destination.disabled",
} as const satisfies Record<DestinationState, AuditAction>;

const changedMeanwhile = new AppError(
  "unavailable",
  "The destination was changed by another request at the same time. Try again.",
  { retryAfterSeconds: 1 },
);

const nameTaken = invalid("/name", "Another destination has this name");

/** Of a new or removed destination the audit list has the name too, unless a user may have put something private in it. */
function identityOf({ name, url, ownerId }: Destination): string {
  return ownerId === null
    ? `name: ${name}
${url}`
    : url;
}

/** Replaced by the reason before it is thrown. */
const notInserted = new AppError("validation-failed", "The destination was not stored");

function mayRead(ctx: Context, { ownerId }: Destination): boolean {
  return isAdmin(ctx) || ownerId === ctx.actor.id || (ownerId === null && isOperator(ctx));
}

function shown(stored: StoredDestination): Destination {
  const { sealed: _, ...destination } = stored;
  return destination;
}
