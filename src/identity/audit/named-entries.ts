import type { Context } from "../../base/context.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import type { Users } from "../users/users.ts";

import type { AuditEntry, ListedAuditEntry } from "./audit-entry.ts";

/** Where the names of actors and subjects are found. */
export interface NameSources {
  readonly users: Pick<Users, "find">;
  readonly events: {
    find(
      ctx: Context,
      ids: readonly string[],
    ): Promise<readonly { readonly id: string; readonly title: string }[]>;
  };
  readonly destinations: {
    list(
      ctx: Context,
      request: PageRequest,
      filters: { readonly owner: "operators" },
    ): Promise<Page<{ readonly id: string; readonly name: string }>>;
  };
}

/** All destinations of the operators: there are at most so many. */
const allDestinations = {
  limit: 100,
  withTotal: false,
  direction: "forward",
  cursor: null,
} as const;

/** Entries with the names that their ids have now. One query for each kind of name, however many entries there are. */
export async function namedEntries(
  ctx: Context,
  { users, events, destinations }: NameSources,
  entries: readonly AuditEntry[],
): Promise<readonly ListedAuditEntry[]> {
  const all = (part: "actor" | "subject") => [...new Set(entries.map((entry) => entry[part]))];
  const hasDestination = entries.some(({ action }) => action.startsWith("destination."));
  const [people, happened, targets] = await Promise.all([
    users.find(ctx, all("actor")),
    events.find(ctx, all("subject")),
    hasDestination ? destinations.list(ctx, allDestinations, { owner: "operators" }) : null,
  ]);
  const userById = new Map(people.map((user) => [user.id, user]));
  const titles = new Map(happened.map(({ id, title }) => [id, title]));
  const destinationIds = new Map(targets?.data.map(({ id, name }) => [name, id]));
  return entries.map((entry) => {
    const user = userById.get(entry.actor);
    const isDestination = entry.action.startsWith("destination.");
    return {
      ...entry,
      actorName: user?.name ?? null,
      actorEmail: user?.email ?? null,
      subjectName: titles.get(entry.subject) ?? null,
      destinationId: (isDestination ? destinationIds.get(entry.subject) : null) ?? null,
    };
  });
}
