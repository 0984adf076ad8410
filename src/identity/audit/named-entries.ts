import type { Context } from "../../base/context.ts";
import { isId } from "../../base/ids.ts";
import type { Page, PageRequest } from "../../base/page.ts";
import type { Users } from "../users/users.ts";

import type { AuditAction, AuditEntry, ListedAuditEntry } from "./audit-entry.ts";
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

/** The text itself, and the id of the operators' destination with this name: a provider may be called the same. */
export async function subjectsCalled(
  ctx: Context,
  names: NameSources,
  text: string,
): Promise<readonly string[]> {
  const { data } = await listDestinations(ctx, names);
  return [text, ...data.filter(({ name }) => name === text).map(({ id }) => id)];
}

/** The name in the first line of an entry about each of these subjects, where it has one. */
async function recordedNames(
  ctx: Context,
  { audit }: NameSources,
  action: AuditAction,
  ids: readonly string[],
) {
  return (await audit.of(ctx, action, ids)).flatMap(({ subject, detail }) => {
    const name = /^name: (.*)$/m.exec(detail ?? "")?.[1];
    return name === undefined ? [] : [[subject, name] as const];
  });
}

/** The names of destinations by their ids, also of removed ones, which the entry of the removal has. */
async function destinationNames(ctx: Context, names: NameSources, ids: readonly string[]) {
  if (ids.length === 0) return [];
  const { data } = await listDestinations(ctx, names);
  const known = new Map(data.map(({ id, name }) => [id, name]));
  const others = ids.filter((id) => !known.has(id));
  return [...known, ...(await recordedNames(ctx, names, "destination.removed", others))];
}

/** Entries with the names that their ids have now. One query for each kind of name, however many entries there are. */
export async function namedEntries(
  ctx: Context,
  names: NameSources,
  entries: readonly AuditEntry[],
): Promise<readonly ListedAuditEntry[]> {
  const all = (part: "actor" | "subject") => [...new Set(entries.map((entry) => entry[part]))];
  const subjects = all("subject");
  const having = (prefix: string) => subjects.filter((subject) => isId(prefix, subject));
  const [people, happened, targets, agents, keys] = await Promise.all([
    names.users.find(ctx, all("actor")),
    names.events.find(ctx, subjects),
    destinationNames(ctx, names, having("dst")),
    recordedNames(ctx, names, "agent.token_created", having("ses")),
    recordedNames(ctx, names, "key.created", having("ses")),
  ]);
  const userById = new Map(people.map((user) => [user.id, user]));
  const titles = new Map([
    ...targets,
    ...agents,
    ...keys,
    ...happened.map(({ id, title }) => [id, title] as const),
  ]);
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
