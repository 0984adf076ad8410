import { statSync } from "node:fs";

import type { Config, Environment } from "../../config/config.ts";
import { AppError } from "../../base/errors.ts";
import { countDuplicate, lastEventOf } from "../../gateway/events/events.sql.ts";
import { write } from "../../db/statement.ts";
import { inspectServer } from "../../db/postgres/inspect.ts";
import { pendingMigrations } from "../../db/sqlite/inspect.ts";
import { databaseFile } from "../../db/open.ts";
import { schema } from "../../schema/schema.ts";
import type { Storage } from "../../db/storage.ts";
import { insertUser } from "../../identity/users/users.sql.ts";
import { withoutPassword } from "../../db/without-password.ts";
import { databaseFault, isInMemory, useDatabase } from "../database.ts";
import { ago } from "../durations.ts";
import { messageOf } from "../failures.ts";

import { bad, type Finding, good, odd } from "./finding.ts";
import { checkOutbox } from "./outbox.ts";
import { isPresent } from "./folders.ts";
import { checkPersonalData } from "./personal-data.ts";
import { checkRotation } from "./rotation.ts";

const about = "database";

/** The database, whether it takes writes, and what it says of the past. Makes and changes nothing. */
export async function checkDatabase(config: Config, env: Environment): Promise<readonly Finding[]> {
  if (isInMemory(config)) {
    return [odd(about, "in memory: all is lost when the server stops"), clock([])];
  }
  const file = databaseFile(config.databaseUrl);
  const name = file ?? withoutPassword(config.databaseUrl);
  try {
    if (file !== null && !isPresent(file)) {
      const detail = `${file} is not made yet: the first start makes it (if it should be there, check DATA_DIR and DATABASE_URL)`;
      return [odd(about, detail), clock([])];
    }
    const { pending, warnings } =
      file === null
        ? await inspectServer(schema, config.databaseUrl, config.databaseLimits)
        : { pending: pendingMigrations(schema, file), warnings: [] };
    if (pending.length > 0) {
      const detail = `${name} lacks ${pending.join(", ")}: the next start brings it up to date; keep a backup`;
      return [odd(about, detail), clock([])];
    }
    return await useDatabase(config, async (storage) => [
      ...(await checkOpen(storage, config, name)),
      ...warnings.map((line) => odd("database server", line)),
      ...(await checkPersonalData(storage, config, env)),
      ...(await checkRotation(storage, config, env)),
      await checkOutbox(storage),
    ]);
  } catch (error) {
    return [bad(about, messageOf(databaseFault(error, config))), clock([])];
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
      ? good(about, `${name} has the current schema and takes writes`)
      : bad(about, `${name} takes no writes (${written}): check its disk and its owner`),
    clock(events.map(({ createdAt }) => createdAt.getTime())),
    ...last.map(({ provider, event }) =>
      good(
        `last ${provider}`,
        event ? `${ago(Date.now() - event.createdAt.getTime())}, ${event.type}` : "never",
      ),
    ),
  ];
}

/** Writes a row in a transaction that is rolled back on purpose. What went wrong, or null. */
async function tryWriting(storage: Storage): Promise<string | null> {
  const undo = new AppError("internal", "Undone on purpose");
  const id = crypto.randomUUID();
  const probe = { id, name: "skyhook doctor", email: `${id}@invalid`, createdAt: new Date() };
  try {
    await storage.atomically(write(insertUser, probe), write(countDuplicate, { id: "evt_" }, undo));
    return "the probe was not undone";
  } catch (error) {
    return error === undo ? null : messageOf(error);
  }
}

/** Clocks of two machines may differ by this much. */
const skewMs = 60_000;

/** Whether the clock can be right: not before the program was built, nor before what it has stored. */
function clock(createdAtMs: readonly number[]): Finding {
  const now = Date.now();
  const shown = new Date(now).toISOString();
  // The file that runs: the compiled program, or Bun. No clock was behind it when it was written.
  const builtAtMs = statSync(process.execPath).mtimeMs;
  if (now + skewMs < builtAtMs) return bad("clock", `${shown} is before this program was built`);
  if (createdAtMs.some((ms) => ms > now + skewMs)) {
    return bad("clock", `${shown} is before the newest event came: signed times will not verify`);
  }
  return good("clock", shown);
}
