import type { Context } from "../../base/context.ts";
import { isId } from "../../base/ids.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import type { Users } from "../users/users.ts";

import type { AuditEntry, ListedAuditEntry } from "./audit-entry.ts";
import type { Audit } from "./audit.ts";

/** Where the names of actors and subjects are found. */
export interface NameSources {
  readonly audit: Pick<Audit, "of">;
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

const listDestinations = (ctx: Context, { destinations }: NameSources) =>
  destinations.list(ctx, allDestinations, { owner: "operators" });

/** The id of the operators' destination with this name; otherwise the text itself. */
export async function subjectCalled(
  ctx: Context,
  names: NameSources,
  text: string,
): Promise<string> {
  const { data } = await listDestinations(ctx, names);
  return data.find(({ name }) => name === text)?.id ?? text;
}

/** The names of destinations by their ids, also of removed ones, which the entry of the removal has. */
async function destinationNames(
  ctx: Context,
  names: NameSources,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const { data } = await listDestinations(ctx, names);
  const known = new Map(data.map(({ id, name }) => [id, name]));
  const others = ids.filter((id) => !known.has(id));
  const removals = await names.audit.of(ctx, "destination.removed", others);
  const removed = removals.flatMap(({ subject, detail }) => {
    const [name = "", address] = detail?.split("\n") ?? [];
    return address === undefined ? [] : [[subject, name] as const];
  });
  return new Map([...known, ...removed]);
}

/** Entries with the names that their ids have now. One query for each kind of name, however many entries there are. */
export async function namedEntries(
  ctx: Context,
  names: NameSources,
  entries: readonly AuditEntry[],
): Promise<readonly ListedAuditEntry[]> {
  const all = (part: "actor" | "subject") => [...new Set(entries.map((entry) => entry[part]))];
  const subjects = all("subject");
  const [people, happened, targets] = await Promise.all([
    names.users.find(ctx, all("actor")),
    names.events.find(ctx, subjects),
    destinationNames(
      ctx,
      names,
      subjects.filter((subject) => isId("dst", subject)),
    ),
  ]);
  const userById = new Map(people.map((user) => [user.id, user]));
  const titles = new Map([...targets, ...happened.map(({ id, title }) => [id, title] as const)]);
  return entries.map((entry) => {
    const user = userById.get(entry.actor);
    return {
      ...entry,
      actorName: user?.name ?? null,
      actorEmail: user?.email ?? null,
      subjectName: titles.get(entry.subject) ?? null,
    };
  });
}
