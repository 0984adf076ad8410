import type { Clock } from "../../base/clock.ts";
import {
  type Context,
  isAdmin,
  isOperator,
  requireAdmin,
  requireOperator,
} from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import type { MakeId } from "../../base/ids.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import type { KeyRing } from "../../base/sealing.ts";
import type { Audit } from "../../identity/audit/audit.ts";
import type { AuditAction } from "../../identity/audit/audit-entry.ts";
import { type Creation, once, reserveKey } from "../../identity/idempotency/idempotent.ts";
import { paginate } from "../../db/paginate.ts";
import { type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import {
  type Destination,
  type DestinationState,
  operatorGateway,
  type StoredDestination,
} from "../destination.ts";

import { type PrivateAllowed, rulesFor } from "./address.ts";
import {
  type DestinationSecrets,
  keptSecrets,
  readSecrets,
  sealSecrets,
  shownAddress,
  signedFormats,
} from "./destination-secrets.ts";
import {
  allDestinations,
  deleteDestination,
  destinationById,
  destinationPages,
  insertDestination,
  operatorsDestinationPages,
  updateDestination,
} from "./destinations.sql.ts";
import { invalid, readDestination, readDestinationChanges, validate } from "./destination-input.ts";
import { makeSecret } from "./formats/standard-webhooks.ts";
import { newDestination, requireRoom } from "./new-destination.ts";
import { requireNotOfSettings } from "./operator-gateway.ts";

/** A destination with its secret, which is shown once. */
export interface DestinationWithSecret extends Destination {
  /** Null if the format has none, or if the caller supplied it. */
  readonly secret: string | null;
}

/**
 * Where notifications are sent. Admins manage all destinations; a user those for bookings of their own;
 * operators may also read those of the operators. All throw `insufficient-scope` or, for an unknown or foreign
 * id, `not-found`.
 */
export interface Destinations {
  /**
   * With a key, a retry returns the same (`replayed`), without the secret once it was changed. Throws `invalid-body`, and
   * `validation-failed` for a bad field, with its place, and if the name is taken.
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
    filters?: { readonly owner: "operators" | undefined },
  ): Promise<Page<Destination>>;
  read(ctx: Context, id: string): Promise<Destination>;
  /** Like `read`, but throws `insufficient-scope` unless the caller may change it. */
  readToChange(ctx: Context, id: string): Promise<Destination>;
  /** Changes the given fields. Throws `validation-failed`. */
  update(ctx: Context, id: string, body: unknown): Promise<Destination>;
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
  readonly changed: () => Promise<void>;
  /** The writes that go with the removal of a destination. */
  readonly removing: (id: Destination["id"]) => readonly Write<unknown>[];
  readonly audit: Audit;
}

/** How long the previous secret also signs. */
const overlapMs = 24 * 3_600_000;

export function destinations(parts: Parts): Destinations {
  const { storage, clock, keys } = parts;

  async function findToRead(ctx: Context, id: string): Promise<StoredDestination> {
    const [found] = isDestinationId(id) ? await storage.all(destinationById, { id }) : [];
    if (found === undefined || !mayRead(ctx, found)) {
      throw new AppError("not-found", "No destination has this id");
    }
    return found;
  }

  async function find(ctx: Context, id: string): Promise<StoredDestination> {
    const found = await findToRead(ctx, id);
    if (found.ownerId !== ctx.actor.id) requireAdmin(ctx);
    return found;
  }

  async function save(
    ctx: Context,
    stored: StoredDestination,
    action: AuditAction,
    detail?: string,
  ): Promise<Destination> {
    await requireFreeName(stored);
    // Later than before, also within one millisecond, so that a concurrent change is noticed.
    const updatedAt = new Date(Math.max(clock.now(), stored.updatedAt.getTime() + 1));
    const next = { ...stored, updatedAt };
    try {
      await storage.atomically(
        write(updateDestination, { ...next, before: stored.updatedAt }, changedMeanwhile),
        parts.audit.entry(ctx, action, stored.name, detail),
      );
    } catch (error) {
      // A concurrent request may have taken the name since it was free: the unique index then refuses it.
      await requireFreeName(stored);
      throw error;
    }
    await parts.changed();
    return shown(next);
  }

  async function requireFreeName({ id, name }: StoredDestination): Promise<void> {
    const all = await storage.all(allDestinations, {});
    if (all.some((other) => other.id !== id && other.name === name)) throw nameTaken;
  }

  function withSecret(stored: StoredDestination): DestinationWithSecret {
    const isOurs = signedFormats.includes(stored.format);
    const secret = isOurs ? readSecrets(keys(), stored).secret : null;
    return { ...shown(stored), secret };
  }

  return {
    async create(ctx, body, idempotencyKey = null) {
      const input = readDestination(body);
      const ownerId = isAdmin(ctx) ? null : ctx.actor.id;
      validate(input, rulesFor(parts.privateAllowed, ownerId), ownerId);
      const now = new Date(clock.now());
      const { actor } = ctx;
      const keyed = idempotencyKey && {
        actor,
        operation: "destination",
        key: idempotencyKey,
        input,
        hashKeys: parts.hashKeys(),
        now,
      };
      return once(
        storage,
        keyed || null,
        async () => {
          await requireRoom(storage, ownerId);
          const stored = newDestination(parts, input, ownerId, now);
          await storage.atomically(
            write(insertDestination, stored, nameTaken),
            parts.audit.entry(ctx, "destination.created", stored.name, stored.address),
            ...(keyed ? reserveKey(keyed, stored.id) : []),
          );
          await parts.changed();
          return withSecret(stored);
        },
        async (id) => {
          const stored = await find(ctx, id);
          const isUnchanged = stored.updatedAt.getTime() === stored.createdAt.getTime();
          return isUnchanged ? withSecret(stored) : { ...shown(stored), secret: null };
        },
      );
    },
    async list(ctx, request, { owner } = { owner: undefined }) {
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
      return shown(await find(ctx, id));
    },
    async update(ctx, id, body) {
      const changes = readDestinationChanges(body);
      const stored = await find(ctx, id);
      requireNotOfSettings(stored, changes);
      const before = readSecrets(keys(), stored);
      const { url = before.address, secret, ...rest } = changes;
      const next = { ...stored, ...rest, address: shownAddress(url) };
      const kept = keptSecrets(before, stored.format, next.format);
      const given = next.format === "pagerduty" ? (secret ?? kept.secret) : (secret ?? null);
      validate(
        { ...next, url, ...(given !== null && { secret: given }) },
        stored.id === operatorGateway.id ? null : rulesFor(parts.privateAllowed, stored.ownerId),
        stored.ownerId,
      );
      const isOurs = signedFormats.includes(next.format);
      const secrets: DestinationSecrets = {
        ...kept,
        address: url,
        secret: isOurs ? (kept.secret ?? makeSecret()) : given,
      };
      const sealed = sealSecrets(keys(), stored.id, secrets);
      const changed = Object.keys(changes).join(", ");
      return save(ctx, { ...next, sealed }, "destination.updated", changed);
    },
    async setState(ctx, id, state) {
      return save(ctx, { ...(await find(ctx, id)), state }, stateActions[state]);
    },
    async rotate(ctx, id) {
      const stored = await find(ctx, id);
      requireNotOfSettings(stored, { secret: "" });
      const before = readSecrets(keys(), stored);
      if (!signedFormats.includes(stored.format) || before.secret === null) {
        throw invalid("/format", `The format ${stored.format} has no secret that Skyhook makes`);
      }
      const secret = makeSecret();
      const previous = { secret: before.secret, untilMs: clock.now() + overlapMs };
      const sealed = sealSecrets(keys(), stored.id, { ...before, secret, previous });
      return { ...(await save(ctx, { ...stored, sealed }, "destination.rotated")), secret };
    },
    async remove(ctx, id) {
      const stored = await find(ctx, id);
      requireNotOfSettings(stored, { name: "" });
      const removed = { id: stored.id };
      await storage.atomically(
        write(deleteDestination, removed),
        ...parts.removing(stored.id),
        parts.audit.entry(ctx, "destination.removed", stored.name, stored.address),
      );
      await parts.changed();
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

function mayRead(ctx: Context, { ownerId }: Destination): boolean {
  return isAdmin(ctx) || ownerId === ctx.actor.id || (ownerId === null && isOperator(ctx));
}

function isDestinationId(id: string): id is Destination["id"] {
  return /^dst_[0-9a-f]{32}$/.test(id);
}

function shown(stored: StoredDestination): Destination {
  const { sealed: _, ...destination } = stored;
  return destination;
}
