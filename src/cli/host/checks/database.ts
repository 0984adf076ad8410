import { statSync } from "node:fs";

import { AppError } from "../../../base/errors.ts";
import type { Config, Environment } from "../../../config/config.ts";
import { databaseFile } from "../../../db/open.ts";
import { inspectServer } from "../../../db/postgres/inspect.ts";
import { pendingMigrations } from "../../../db/sqlite/inspect.ts";
import { write } from "../../../db/statement.ts";
import type { Storage } from "../../../db/storage.ts";
import { withoutPassword } from "../../../db/without-password.ts";
import { countDuplicate, lastEventOf } from "../../../event/events.sql.ts";
import { insertUser } from "../../../identity/users/users.sql.ts";
import { schema } from "../../../schema/schema.ts";
import { isInMemory, requireNotEmptied, useDatabase, withAdvice } from "../../kit/database.ts";
import { ago } from "../../kit/durations.ts";
import { messageOf } from "../../kit/errors.ts";

import { checkDestinations } from "./destinations.ts";
import { bad, type Finding, good, odd } from "./finding.ts";
import { isPresent } from "./folders.ts";
import { checkOutbox } from "./outbox.ts";
import { checkPersonalData } from "./personal-data.ts";
import { checkReconciliation } from "./reconciliation.ts";
import { checkRotation } from "./rotation.ts";
import { checkWeeks } from "./weeks.ts";

const about = "database";

/** Checks that the database is readable and writable, and reports each provider's last event. Changes nothing. */
export async function checkDatabase(config: Config, env: Environment): Promise<readonly Finding[]> {
  if (isInMemory(config)) {
    return [odd(about, "in memory: all data is lost when the server stops"), clock([])];
  }
  const file = databaseFile(config.databaseUrl);
  const name = file ?? withoutPassword(config.databaseUrl);
  try {
    if (file !== null && !isPresent(file)) {
      const detail = `${file} does not exist yet: the first start creates it. If it should exist, check DATA_DIR and DATABASE_URL`;
      return [odd(about, detail), clock([])];
    }
    requireNotEmptied(config);
    const { pending, warnings } =
      file === null
        ? await inspectServer(schema, config.databaseUrl, config.databaseLimits)
        : { pending: pendingMigrations(schema, file), warnings: [] };
    if (pending.length > 0) {
      const detail = `${name} needs the migrations ${pending.join(", ")}: make a backup, the next start applies them`;
      return [odd(about, detail), clock([])];
    }
    return await useDatabase(config, async (storage) => [
      ...(await checkOpen(storage, config, name)),
      ...warnings.map((line) => odd("database server", line)),
      ...(await checkPersonalData(storage, config, env)),
      ...(await checkRotation(storage, config, env)),
      ...(await checkReconciliation(storage, config, env)),
      await checkOutbox(storage),
      ...(await checkWeeks(storage, config)),
      ...(await checkDestinations(storage, config, env)),
    ]);
  } catch (error) {
    return [bad(about, messageOf(withAdvice(error, config))), clock([])];
  }
}

async function checkOpen(
  storage: Storage,
  { providers }: Config,
  name: string,
): Promise<readonly Finding[]> {
  const written = await tryWriting(storage);
  const last = await Promise.all(
    providers.map(async (provider) => {
      const [event] = await storage.all(lastEventOf, { provider });
      return { provider, event };
    }),
  );
  const events = last.flatMap(({ event }) => event ?? []);
  return [
    written === null
      ? good(about, `${name} has the current schema and is writable`)
      : bad(about, `${name} is not writable (${written}): check its disk and its owner`),
    clock(events.map(({ createdAt }) => createdAt.getTime())),
    ...last.map(({ provider, event }) =>
      good(
        `last ${provider}`,
        event ? `${ago(Date.now() - event.createdAt.getTime())}, ${event.type}` : "never",
      ),
    ),
  ];
}

/** Writes a row in a transaction that is then rolled back. Returns the error's message, or null. */
async function tryWriting(storage: Storage): Promise<string | null> {
  const undo = new AppError("internal", "rolled back on purpose");
  const id = crypto.randomUUID();
  const probe = { id, name: "skyhook doctor", email: `${id}@invalid`, createdAt: new Date() };
  try {
    await storage.atomically(write(insertUser, probe), write(countDuplicate, { id: "evt_" }, undo));
    return "the probe was not rolled back";
  } catch (error) {
    return error === undo ? null : messageOf(error);
  }
}

/** Tolerated difference between the clocks of two machines. */
const skewMs = 60_000;

/** The clock is wrong if it shows a time before the program was built or before a stored event. */
function clock(createdAtMs: readonly number[]): Finding {
  const now = Date.now();
  const shown = new Date(now).toISOString();
  // The compiled program or Bun: its time of modification is in the past.
  const builtAtMs = statSync(process.execPath).mtimeMs;
  if (now + skewMs < builtAtMs) return bad("clock", `${shown} is before this program was built`);
  if (createdAtMs.some((ms) => ms > now + skewMs)) {
    return bad("clock", `${shown} is before the newest event: signed timestamps will not verify`);
  }
  return good("clock", shown);
}
