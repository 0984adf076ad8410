import type { Clock } from "../base/clock.ts";
import { type Context, requireAdmin } from "../base/context.ts";
import type { MakeId } from "../base/ids.ts";
import { isBookingId } from "../booking/bookings/booking-details.ts";
import { insertDisclosure } from "../booking/personal-data/personal-data.sql.ts";
import type { PersonalDataOpener } from "../booking/personal-data/personal-data.ts";
import { write } from "../db/statement.ts";
import type { Storage } from "../db/storage.ts";
import type { Audit } from "../identity/audit/audit.ts";
import type { Erasures } from "../identity/users/erasures.ts";

import { type ErasedCounts, eraseRows } from "./erase-person.ts";
import { exportRows, type PersonRows } from "./export-person.ts";
import { type NamedRow, namedRows, redactRows } from "./named-rows.ts";
import { namingOf } from "./naming.ts";
import { batchSize } from "./pages.ts";
import { findPerson, type Person } from "./person.ts";

/** What is stored about a person. */
export interface PersonExport {
  readonly person: Person;
  readonly exportedAt: Date;
  readonly data: PersonRows["rows"];
  /** Webhooks and other texts that name the person. */
  readonly named: readonly NamedRow[];
  /** False if there is more. */
  readonly isComplete: boolean;
}

/** What erasing a person did. */
export interface PersonErasure {
  readonly erased: ErasedCounts;
  readonly named: readonly NamedRow[];
  readonly isComplete: boolean;
}

/** `given`: an e-mail address or a user's id. */
export interface Persons {
  /** Records who exported. Throws `insufficient-scope` unless the caller is an admin. */
  export(ctx: Context, given: string, search?: Search): Promise<PersonExport>;
  /** What is stored under the caller's own id. Nothing by e-mail address: nobody checks whose address a user has. */
  exportOwn(ctx: Context): Promise<PersonExport>;
  /** Records who erased. Throws `insufficient-scope` and `open-bookings`. */
  erase(
    ctx: Context,
    given: string,
    search?: Search & { readonly bodies?: boolean },
  ): Promise<PersonErasure>;
}

/** Reads all texts and bodies, however long it takes; shows passports in full, and records that. For the command line. */
export interface Search {
  readonly onProgress: (what: string, rows: number) => void;
}

interface Parts {
  readonly storage: Storage;
  readonly seal: PersonalDataOpener;
  readonly erasures: Pick<Erasures, "add">;
  readonly audit: Pick<Audit, "entry">;
  readonly clock: Clock;
  readonly makeId: MakeId;
  /** Events that the search index finds by these words. */
  readonly eventsWith: (ctx: Context, q: string) => Promise<readonly { readonly id: string }[]>;
}

/** The most rows of one table in an answer of the API, which is serialized in one turn of the event loop. */
const maxRows = 1_000;
/** The same for the command line. */
const maxSearchedRows = 100_000;

export function persons(parts: Parts): Persons {
  const { storage, clock, makeId, audit } = parts;

  /** Lists the rows that name the person. With `bodies`, removes what does so by address or id. */
  async function named(
    ctx: Context,
    person: Person,
    search?: Search & { readonly bodies?: boolean },
  ) {
    if (search === undefined) return { named: await indexed(ctx, person), isComplete: true };
    const naming = namingOf(person);
    const found: NamedRow[] = [];
    for await (const rows of namedRows(storage, naming, (n) => search.onProgress("read", n))) {
      const sure = rows.filter(({ shown }) => shown.by !== "name");
      if (search.bodies === true && sure.length > 0) await redactRows(storage, naming, sure);
      found.push(...rows.map(({ shown }) => shown));
      if (found.length > maxSearchedRows) found.length = maxSearchedRows;
    }
    return { named: found, isComplete: found.length < maxSearchedRows };
  }

  /** The index finds the words of an address, which may be part of another one. */
  async function indexed(ctx: Context, person: Person): Promise<readonly NamedRow[]> {
    if (person.email === null) return [];
    const naming = namingOf(person);
    const events = await parts.eventsWith(ctx, JSON.stringify(person.email));
    return events.flatMap((event) => {
      const by = naming.find(JSON.stringify(event));
      return by === null ? [] : [{ table: "events", id: event.id, fields: [], by }];
    });
  }

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

  return {
    async export(ctx, given, search) {
      requireAdmin(ctx);
      const person = await findPerson(storage, given);
      const entry = audit.entry(ctx, "person.exported", subjectOf(person));
      const isRevealed = search !== undefined;
      const options = {
        seal: parts.seal,
        isRevealed,
        onlyActor: null,
        maxRows: isRevealed ? maxSearchedRows : maxRows,
      };
      const found = await exportRows(storage, person, options);
      const texts = await named(ctx, person, search);
      if (isRevealed) await disclose(ctx, found.rows);
      await storage.atomically(entry);
      return {
        person,
        exportedAt: new Date(clock.now()),
        data: found.rows,
        named: texts.named,
        isComplete: found.isComplete && texts.isComplete,
      };
    },
    async exportOwn({ actor }) {
      const person = { email: null, ids: [actor.id], names: [] };
      const options = { seal: parts.seal, isRevealed: false, onlyActor: actor.id, maxRows };
      const { rows, isComplete } = await exportRows(storage, person, options);
      return { person, exportedAt: new Date(clock.now()), data: rows, named: [], isComplete };
    },
    async erase(ctx, given, search) {
      requireAdmin(ctx);
      const person = await findPerson(storage, given);
      // It may throw, so it comes before what cannot be undone.
      const entry = audit.entry(ctx, "person.erased", unnamed);
      const erased = await eraseRows(parts, person, (n) => search?.onProgress("erased", n));
      const texts = await named(ctx, person, search);
      await storage.atomically(entry);
      return { erased, ...texts };
    },
  };
}

/** The subject of an audit entry, which must not say who was erased. */
const unnamed = "person";

function subjectOf({ ids: [id = unnamed] }: Person): string {
  return id.includes("@") ? unnamed : id;
}
