import type { Clock } from "../base/clock.ts";
import { type Context, requireAdmin } from "../base/context.ts";
import type { MakeId } from "../base/ids.ts";
import { isBookingId } from "../booking/model/find-booking.ts";
import { insertDisclosure } from "../booking/personal-data/personal-data.sql.ts";
import type { PersonalDataOpener } from "../booking/personal-data/personal-data.ts";
import { write } from "../db/statement.ts";
import type { Storage } from "../db/storage.ts";
import type { Audit } from "../identity/audit/audit.ts";
import type { EndedAccess } from "../identity/users/ended-access.ts";

import { type ErasedCounts, eraseRows } from "./erase-person.ts";
import { type ExportOptions, exportRows, type PersonRows } from "./export-person.ts";
import { findPersons } from "./find-persons.ts";
import type { FoundPersons, PersonDetails } from "./person.schema.ts";
import { batchSize, findPerson, type Person } from "./person.ts";
import { readPerson } from "./read-person.ts";

/** What is stored about a person. */
export interface PersonExport {
  readonly person: Person;
  readonly exportedAt: Date;
  readonly data: PersonRows["rows"];
  /** False if there is more. */
  readonly isComplete: boolean;
}

/** What erasing a person did. */
export interface PersonErasure {
  readonly erased: ErasedCounts;
}

/** `given`: an e-mail address or a user's id. */
export interface Persons {
  /** Throws `insufficient-scope` unless the caller is an admin. */
  find(ctx: Context, text: string): Promise<FoundPersons>;
  /** Throws `insufficient-scope` unless the caller is an admin. */
  read(ctx: Context, given: string): Promise<PersonDetails>;
  /**
   * Records who exported. `isRevealed`: passports are in full, which each booking's history records, and there may be more
   * rows. Throws `insufficient-scope` unless the caller is an admin.
   */
  export(ctx: Context, given: string, isRevealed?: boolean): Promise<PersonExport>;
  /** What is stored under the caller's own id. Nothing by e-mail address: nobody checks whose address a user has. */
  exportOwn(ctx: Context): Promise<PersonExport>;
  /** Records who erased. Throws `insufficient-scope`, `not-found` and `open-bookings`. */
  erase(ctx: Context, given: string): Promise<PersonErasure>;
}

interface Parts {
  readonly storage: Storage;
  readonly seal: PersonalDataOpener;
  readonly ended: Pick<EndedAccess, "refresh">;
  readonly audit: Pick<Audit, "entry">;
  readonly clock: Clock;
  readonly makeId: MakeId;
}

/** The most rows of one table in an answer of the API, which is serialized in one turn of the event loop. */
const maxRows = 1_000;
/** The same for the command line. */
const maxRevealedRows = 100_000;

export function persons(parts: Parts): Persons {
  const { storage, clock, makeId, audit } = parts;

  async function disclose(ctx: Context, rows: PersonRows["rows"]): Promise<void> {
    const ids = new Set((rows.passengers ?? []).map(({ bookingId }) => String(bookingId)));
    const now = clock.now();
    const writes = [...ids].filter(isBookingId).map((bookingId) =>
      write(insertDisclosure, {
        id: makeId("dis", now),
        bookingId,
        actor: ctx.actor.id,
        reason: "export of a person's data",
        createdAt: new Date(now),
      }),
    );
    for (let from = 0; from < writes.length; from += batchSize) {
      await storage.atomically(...writes.slice(from, from + batchSize));
    }
  }

  async function read(person: Person, options: Partial<ExportOptions> = {}): Promise<PersonExport> {
    const defaults = { seal: parts.seal, isRevealed: false, onlyActor: null, maxRows };
    const { rows, isComplete } = await exportRows(storage, person, { ...defaults, ...options });
    return { person, exportedAt: new Date(clock.now()), data: rows, isComplete };
  }

  return {
    async find(ctx, text) {
      requireAdmin(ctx);
      return findPersons(storage, text);
    },
    async read(ctx, given) {
      requireAdmin(ctx);
      return readPerson(storage, given, new Date(clock.now()));
    },
    async export(ctx, given, isRevealed = false) {
      requireAdmin(ctx);
      const person = await findPerson(storage, given);
      const entry = audit.entry(ctx, "person.exported", subjectOf(person));
      const revealed = { isRevealed, maxRows: maxRevealedRows };
      const exported = await read(person, isRevealed ? revealed : {});
      if (isRevealed) await disclose(ctx, exported.data);
      await storage.atomically(entry);
      return exported;
    },
    exportOwn: ({ actor: { id } }) => read({ email: null, ids: [id] }, { onlyActor: id }),
    async erase(ctx, given) {
      requireAdmin(ctx);
      const person = await findPerson(storage, given);
      return { erased: await eraseRows(parts, person, audit.entry(ctx, "person.erased", unnamed)) };
    },
  };
}

/** The subject of an audit entry, which must not say who was erased. */
const unnamed = "person";

function subjectOf({ ids: [id = unnamed] }: Person): string {
  return id.includes("@") ? unnamed : id;
}
