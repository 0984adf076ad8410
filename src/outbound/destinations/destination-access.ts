import { type Context, isAdmin, isOperator, requireAdmin } from "../../base/context.ts";
import { AppError } from "../../base/errors.ts";
import type { Storage } from "../../db/storage.ts";
import { isDestinationId } from "../destination-named.ts";
import type { Destination, StoredDestination } from "../destination.ts";
import { destinationById } from "../destinations.sql.ts";

/** Finds a destination if the caller may read or change it. Both throw `not-found` for an unknown or foreign id. */
interface DestinationAccess {
  toRead(ctx: Context, id: string): Promise<StoredDestination>;
  /** Also throws `insufficient-scope` if the caller may only read it. */
  toChange(ctx: Context, id: string): Promise<StoredDestination>;
}

export const changedMeanwhile = new AppError(
  "unavailable",
  "The destination was changed by another request at the same time. Try again.",
  { retryAfterSeconds: 1 },
);

export function destinationAccess(storage: Storage): DestinationAccess {
  async function toRead(ctx: Context, id: string): Promise<StoredDestination> {
    const [found] = isDestinationId(id) ? await storage.all(destinationById, { id }) : [];
    if (found === undefined || !mayRead(ctx, found)) {
      throw new AppError("not-found", "No destination has this id");
    }
    return found;
  }

  return {
    toRead,
    async toChange(ctx, id) {
      const found = await toRead(ctx, id);
      if (found.ownerId !== ctx.actor.id) requireAdmin(ctx);
      return found;
    },
  };
}

function mayRead(ctx: Context, { ownerId }: Destination): boolean {
  return isAdmin(ctx) || ownerId === ctx.actor.id || (ownerId === null && isOperator(ctx));
}
