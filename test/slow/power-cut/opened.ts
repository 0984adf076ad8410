import { Database } from "bun:sqlite";
import { join } from "node:path";

import type { Passenger } from "../../../src/booking/model/booking.ts";
import { personalDataOpener } from "../../../src/booking/personal-data/personal-data.ts";
import { openDatabase } from "../../../src/cli/kit/database.ts";
import { readConfig } from "../../../src/config/config.ts";
import { secretStore } from "../../../src/config/secrets.ts";
import { leftIn } from "../harness/databases.ts";
import { wrongWith } from "../harness/invariants.ts";

import type { Facts } from "./facts.ts";
import { factsInDatabase } from "./facts.ts";

/** What is wrong, in words; empty if nothing is. */
export type Wrong = readonly string[];

/** The settings of a program in that folder. */
export const environmentIn = (folder: string) => ({
  DATA_DIR: join(folder, "data"),
  SECRETS_DIR: join(folder, "secrets"),
});

/** Opens the database in the folder as a start of Skyhook does, for `look`. */
export async function openedIn(
  folder: string,
  look: (client: Database) => Promise<Wrong>,
): Promise<Wrong> {
  const config = readConfig(environmentIn(folder));
  const storage = await openDatabase(config);
  try {
    using client = new Database(config.databaseUrl.replace("sqlite:", ""), { readonly: true });
    return await look(client);
  } finally {
    await storage.close();
  }
}

/** Checks the database in the folder, and that it has these facts. */
export const wrongDatabase = (folder: string, facts: Facts): Promise<Wrong> =>
  openedIn(folder, async (client) => [
    ...(await unsound(client)),
    ...lost(facts, factsIn(client)),
    ...undecryptable(folder, client),
  ]);

/** Checks that the database is intact and has no half transaction. */
export const unsound = (client: Database): Promise<Wrong> => wrongWith(leftIn(client));

/** The facts in the database. */
export function factsIn(client: Database): Facts {
  const rows = client.query<{ fact: string; value: string }, []>(factsInDatabase).all();
  return new Map(rows.map(({ fact, value }) => [fact, value]));
}

/** Which of the facts are not found. */
export function lost(facts: Facts, found: Facts): Wrong {
  const missing = [...facts].filter(([fact, value]) => found.get(fact) !== value);
  if (missing.length === 0) return [];
  return [`${missing.length} of ${facts.size} lost, for example ${missing[0]?.join(" ")}`];
}

/** Checks that the keys in the folder decrypt the passports in its database. */
export function undecryptable(folder: string, client: Database): Wrong {
  const { DATA_DIR, SECRETS_DIR } = environmentIn(folder);
  const keys = secretStore({}, SECRETS_DIR).personalDataKeysThere(DATA_DIR);
  const opener = personalDataOpener(keys);
  const sql = "select booking_id as bookingId, position, sealed from passengers";
  type Sealed = Pick<Passenger, "bookingId" | "position" | "sealed">;
  try {
    for (const passenger of client.query<Sealed, []>(sql).all()) opener.open(passenger);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
