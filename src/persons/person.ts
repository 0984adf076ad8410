import { openIdPrefix } from "../base/context.ts";
import type { Storage } from "../db/storage.ts";
import { scopesOf } from "../identity/idempotency/idempotent.ts";
import { storedEmail } from "../identity/users/fields.ts";
import { userByEmail, userById } from "../identity/users/users.sql.ts";

import { batchSize, pageAfter } from "./pages.ts";
import type { LinkKind } from "./personal-columns.ts";
import {
  type LinkStatements,
  type Row,
  type TableStatements,
  tableStatements,
} from "./persons.sql.ts";

/** Whom an e-mail address or a user's id stands for. */
export interface Person {
  /** Null if only an id is known. */
  readonly email: string | null;
  /** What rows of the person have as owner or actor. */
  readonly ids: readonly string[];
  readonly names: readonly string[];
}

/** Finds the person of an e-mail address or of the id of a user, who may have neither account nor rows. */
export async function findPerson(storage: Storage, given: string): Promise<Person> {
  const text = storedEmail(given.trim());
  const isEmail = text.includes("@");
  const [user] = isEmail
    ? await storage.all(userByEmail, { email: text })
    : await storage.all(userById, { id: text });
  const email = isEmail ? text : (user?.email ?? null);
  const ids = new Set(user === undefined ? [] : [user.id]);
  // Users whom only an identity provider knows have rows, but no account.
  for (const id of [text, `${openIdPrefix}${text}`]) {
    const person = { email: null, ids: [id] };
    for (const { table, link } of linksBy("id")) {
      const [row] = await storage.all(link.pages.first, valuesOf(person, [], 1), "long");
      if (row !== undefined && table.name !== "users") ids.add(id);
    }
  }
  const names = new Set(user === undefined ? [] : [user.name]);
  const person = { email, ids: [...ids] };
  for (const { table, link } of linksBy("email")) {
    if (table.name !== "passengers") continue;
    for await (const rows of linkedRows(storage, { table, link }, person)) {
      for (const row of rows) names.add(`${String(row["firstName"])} ${String(row["lastName"])}`);
    }
  }
  return { ...person, names: [...names] };
}

interface TableLink {
  readonly table: TableStatements;
  readonly link: LinkStatements;
}

/** Links whose rows are found without the person's bookings. */
export const ownLinks = ["id", "email", "scope"] as const satisfies readonly LinkKind[];

/** The links of all tables by what they hold. */
export function linksBy(...kinds: readonly LinkKind[]): readonly TableLink[] {
  return tableStatements.flatMap((table) =>
    table.links.filter(({ by }) => kinds.includes(by)).map((link) => ({ table, link })),
  );
}

export type Linked = Pick<Person, "email" | "ids">;

/** The values of the statements of links. */
export function valuesOf({ email, ids }: Linked, bookings: readonly string[], limit: number) {
  return { email: email ?? "", ids, scopes: ids.flatMap(scopesOf), bookings, limit };
}

/** The rows of a link, page by page. `bookings`: their ids, for links by booking. */
export async function* linkedRows(
  storage: Storage,
  { table, link }: TableLink,
  person: Linked,
  bookings: readonly string[] = [],
): AsyncGenerator<readonly Row[]> {
  if (link.by === "email" && person.email === null) return;
  const values = valuesOf(person, bookings, batchSize);
  let after: Row | null = null;
  for (let hasMore = true; hasMore;) {
    const page: readonly Row[] = await storage.all(
      ...pageAfter(table, link.pages, after, values),
      "long",
    );
    if (page.length > 0) yield page;
    after = page.at(-1) ?? null;
    hasMore = page.length === batchSize;
  }
}
