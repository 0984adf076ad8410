import { openIdPrefix } from "../base/context.ts";
import type { Storage } from "../db/storage.ts";
import { scopesOf } from "../identity/idempotency/idempotent.ts";
import { storedEmail } from "../identity/users/fields.ts";
import { userByEmail, userById } from "../identity/users/users.sql.ts";

import type { LinkKind } from "./links.ts";
import { linksBy, type LinkStatements, type Row } from "./persons.sql.ts";

/** Rows that are read or erased at once. */
export const batchSize = 200;

/** Whom an e-mail address or a user's id stands for. */
export interface Person {
  /** Null if only an id is known. */
  readonly email: string | null;
  /** What rows of the person have as owner or actor. */
  readonly ids: readonly string[];
}

/** Finds the person of an e-mail address or of the id of a user, who may have neither account nor rows. */
export async function findPerson(storage: Storage, given: string): Promise<Person> {
  const text = storedEmail(given.trim());
  const isEmail = text.includes("@");
  const [user] = isEmail
    ? await storage.all(userByEmail, { email: text })
    : await storage.all(userById, { id: text });
  const ids = new Set(user === undefined ? [] : [user.id]);
  // Users whom only an identity provider knows have rows, but no account.
  for (const id of [text, `${openIdPrefix}${text}`]) {
    const person = { email: null, ids: [id] };
    for (const { name, first } of linksBy("id")) {
      const [row] = await storage.all(first, valuesOf(person, [], 1), "long");
      if (row !== undefined && name !== "users") ids.add(id);
    }
  }
  return { email: isEmail ? text : (user?.email ?? null), ids: [...ids] };
}

/** Links whose rows are found without the person's bookings. */
export const ownLinks = ["id", "email", "scope"] as const satisfies readonly LinkKind[];

/** The values of the statements of links. */
export function valuesOf({ email, ids }: Person, bookings: readonly string[], limit: number) {
  return { email: email ?? "", ids, scopes: ids.flatMap(scopesOf), bookings, limit };
}

/** The rows of a link, page by page. `bookings`: their ids, for links by booking. */
export async function* linkedRows(
  storage: Storage,
  { by, key, first, after }: LinkStatements,
  person: Person,
  bookings: readonly string[] = [],
): AsyncGenerator<readonly Row[]> {
  if (by === "email" && person.email === null) return;
  const values = valuesOf(person, bookings, batchSize);
  let page = await storage.all(first, values, "long");
  while (page.length > 0) {
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < batchSize) return;
    const place = Object.fromEntries(key.map((field) => [field, last[field]]));
    page = await storage.all(after, { ...values, ...place }, "long");
  }
}
