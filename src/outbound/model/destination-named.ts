import { isId } from "../../base/ids.ts";
import { invalidParameter } from "../../base/parameters.ts";
import type { Storage } from "../../db/storage.ts";

import type { Destination } from "./destination.ts";
import { destinationById, destinationByName } from "./destinations.sql.ts";

/**
 * The id of the operators' destination with a name or id; undefined if none is given. Throws `invalid-parameter` if
 * no such destination exists, so that a typing error is not an empty list.
 */
export async function destinationNamed(
  storage: Pick<Storage, "all">,
  nameOrId: string | undefined,
): Promise<Destination["id"] | undefined> {
  if (nameOrId === undefined) return undefined;
  // Ids first: a name can look like the id of another destination.
  const [found] = isId("dst", nameOrId) ? await storage.all(destinationById, { id: nameOrId }) : [];
  if (found !== undefined && found.ownerId === null) return found.id;
  const [named] = await storage.all(destinationByName, { name: nameOrId, ownerId: null });
  if (named !== undefined) return named.id;
  const detail =
    "No destination of the operators has this name or id. GET /v1/destinations lists them";
  throw invalidParameter("destination", detail);
}
