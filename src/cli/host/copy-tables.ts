import { timeOfPosition } from "../../base/ids.ts";
import { type Statement, type Write, write } from "../../db/statement.ts";
import type { Storage } from "../../db/storage.ts";
import { makeWeek, weekAt } from "../../event/weeks.sql.ts";
import { insertFailures } from "../../outbound/model/notifications.sql.ts";

import {
  attemptsOfMany,
  copies,
  type CopyOfTable,
  deleteAttemptsOfMany,
  lastPosition,
  markUnfinished,
  type Pages,
  type Row,
  setDestinationNumbers,
  setFlightIds,
  setPositions,
  type Size,
  unfinishedMark,
  unmarkUnfinished,
} from "./copy-tables.sql.ts";

const pageSize = 500;
/** The approximate maximum memory of a page of large rows. */
const maxPageBytes = 32 * 2 ** 20;

/** A copied table, compared and equal in both databases. */
export interface CopiedTable {
  readonly name: string;
  readonly rows: number;
  /** SHA-256 over all rows in the order of their key, in hex. */
  readonly sha256: string;
}

/**
 * Marks a database as the target of a copy: until `endCopy`, only a copy can open it. Throws if it contains
 * rows of its own, because the mark would lock out its users.
 */
export async function beginCopy(to: Storage, name: string): Promise<void> {
  const [mark] = await to.all(unfinishedMark, {});
  if (mark !== undefined) return;
  for (const table of copies) {
    const [row] = await to.all(table.last, {});
    if (row === undefined) continue;
    throw new Error(`${name} is not empty (it has ${table.name}): copy into an empty database`);
  }
  await to.atomically(write(markUnfinished, {}));
}

/** Removes the mark. */
export async function endCopy(to: Storage): Promise<void> {
  await to.atomically(write(unmarkUnfinished, {}));
}

/**
 * Copies all rows of one database to another, page by page, then compares every row. Run again after an
 * interruption, it continues. Throws if the two differ at the end: another program wrote to one of them
 * meanwhile, or the target was not empty.
 */
export async function copyTables(
  from: Storage,
  to: Storage,
  onProgress: (what: string, rows: number) => void,
): Promise<CopiedTable[]> {
  const madeWeeks = new Set<number>();
  for (const table of copies) {
    let rows = 0;
    const [last] = await to.all(table.last, {});
    let page = await pageAfter(from, table, last);
    while (page.length > 0) {
      if (table.name === "events") await makeWeeksOf(page, to, madeWeeks);
      await to.atomically(
        ...(table.name === "notifications" ? await attemptWrites(from, page) : []),
        ...page.map((row) => write(table.insert, row)),
      );
      rows += page.length;
      onProgress(`copying ${table.name}`, rows);
      page = await pageAfter(from, table, page.at(-1));
    }
  }
  await continueNumbers(from, to);
  const copied: CopiedTable[] = [];
  for (const table of copies) copied.push(await compared(from, to, table, onProgress));
  return copied;
}

/** Makes the partitions of events, besides those that are `made`, and adds them there. */
async function makeWeeksOf(events: readonly Row[], to: Storage, made: Set<number>): Promise<void> {
  if (to.dialect === "sqlite") return;
  const weeks = positionsOf(events).map((position) => weekAt(timeOfPosition(position).getTime()));
  // Each by itself: a page may span many.
  for (const week of new Set(weeks).difference(made)) {
    await to.all(makeWeek, { week });
    made.add(week);
  }
}

/** Positions are times on SQLite, so deleted events do not matter. */
async function lastPositionOf(storage: Storage): Promise<number> {
  const [row] = storage.dialect === "sqlite" ? [] : await storage.all(lastPosition, {});
  return row?.last ?? 0;
}

/** Sets the sequences of `to` to continue after all events and flights that either database ever had. */
async function continueNumbers(from: Storage, to: Storage): Promise<void> {
  if (to.dialect === "sqlite") return;
  await to.all(setPositions, {
    last: Math.max(await lastPositionOf(from), await lastPositionOf(to)),
  });
  await to.all(setFlightIds, {});
  await to.all(setDestinationNumbers, {});
}

/** Reads both databases in parallel. Throws at the first page that differs. */
async function compared(
  from: Storage,
  to: Storage,
  table: CopyOfTable,
  onProgress: (what: string, rows: number) => void,
): Promise<CopiedTable> {
  const hash = new Bun.CryptoHasher("sha256");
  let rows = 0;
  let last: Row | undefined;
  for (;;) {
    const [source, target] = await Promise.all(
      [from, to].map(async (storage) => {
        const page = await pageAfter(storage, table, last);
        const attempts = table.name === "notifications" ? await attemptsOf(storage, page) : [];
        return { page, text: [...page, ...attempts].map(canonical).join("\n") };
      }),
    );
    if (source?.text !== target?.text) {
      const where =
        last === undefined
          ? "the first rows"
          : `the rows after ${table.key.map((field) => String(last?.[field])).join(" ")}`;
      throw new Error(
        `The databases differ in ${table.name}, in ${where}: stop the programs that write to them, empty the target, and copy again`,
      );
    }
    const page = source?.page ?? [];
    if (page.length === 0) break;
    hash.update(source?.text ?? "").update("\n");
    rows += page.length;
    onProgress(`comparing ${table.name}`, rows);
    last = page.at(-1);
  }
  return { name: table.name, rows, sha256: hash.digest("hex") };
}

async function pageAfter(
  storage: Storage,
  { pages, sizes }: CopyOfTable,
  last: Row | undefined,
): Promise<Row[]> {
  const limit = sizes === null ? pageSize : fitting(await storage.all(...following(sizes, last)));
  const [statement, place] = following(pages, last);
  return storage.all(statement, { ...place, limit });
}

function following<Found>(
  { first, after }: Pages<Found>,
  last: Row | undefined,
): [Statement<Row, Found>, Row] {
  return last === undefined ? [first, {}] : [after, last];
}

/** The number of rows that fit into the memory of a page; at least one. */
function fitting(sizes: readonly Size[]): number {
  let bytes = 0;
  const tooMany = sizes.findIndex(({ bodyBytes }) => (bytes += bodyBytes) > maxPageBytes);
  return Math.max(1, tooMany === -1 ? sizes.length : tooMany);
}

function attemptsOf(storage: Storage, notifications: readonly Row[]): Promise<Row[]> {
  return storage.all(attemptsOfMany, { positions: positionsOf(notifications) });
}

function positionsOf(rows: readonly Row[]): readonly number[] {
  return rows.map(({ position }) => Number(position));
}

/** Replaces the attempts of these notifications. */
async function attemptWrites(
  from: Storage,
  notifications: readonly Row[],
): Promise<Write<never>[]> {
  const attempts = await from.all(attemptsOfMany, { positions: positionsOf(notifications) });
  return [
    write(deleteAttemptsOfMany, { positions: positionsOf(notifications) }),
    write(insertFailures, { attempts }),
  ];
}

/** A row as text, independent of the database it was read from. */
function canonical(row: Row): string {
  const fields = Object.keys(row).toSorted();
  return JSON.stringify(fields.map((field) => plain(row[field])));
}

function plain(value: unknown): unknown {
  if (value instanceof Date) return value.getTime();
  // Hashed, because a page of large bodies would take many times their memory as text.
  if (value instanceof Uint8Array) return Bun.SHA256.hash(value, "hex");
  // PostgreSQL cannot store NUL in text, so U+FFFD replaces it there.
  return typeof value === "string" ? value.replaceAll("\0", "\u{FFFD}") : value;
}
