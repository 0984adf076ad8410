import { type BackgroundTask, backgroundTask } from "../../base/background-task.ts";
import type { Clock } from "../../base/clock.ts";
import { write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import type { Log } from "../../telemetry/log.ts";
import type { Passenger } from "../booking.ts";

import { setFoldedName, unfoldedNames } from "./bookings.sql.ts";

/**
 * A name without regard to case, also of letters beyond ASCII, which SQLite's `lower` does not change. Upper case
 * first: `ß` has no upper-case letter of its own but `SS`.
 */
export function foldedName(name: string): string {
  return name.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}

/** What is stored of a folded name: null where the database's `lower` returns the same. */
export function storedFolding(lastName: string): Passenger["lastNameFolded"] {
  return /^[ -~]*$/.test(lastName) ? null : foldedName(lastName);
}

interface Parts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly log: Log;
}

const batchSize = 200;
const retryMs = 5_000;

/** Folds the last names that an earlier version stored, once. */
export function nameFolding({ storage, clock, log }: Parts): BackgroundTask {
  return backgroundTask(clock, async (signal) => {
    try {
      while (!signal.aborted) {
        const found = await storage.all(unfoldedNames, { limit: batchSize });
        if (found.length === 0) break;
        await storage.atomically(
          ...found.map(({ lastName, ...place }) =>
            write(setFoldedName, { ...place, lastNameFolded: foldedName(lastName) }),
          ),
        );
      }
      return null;
    } catch (error) {
      log.error({ err: error }, "failed to fold the last names of passengers; retrying");
      return retryMs;
    }
  });
}
