import { write } from "../db/statement.ts";
import type { Storage } from "../db/storage.ts";

import { type NamedBy, namedBy, type Naming } from "./naming.ts";
import { batchSize, keyOf, pageAfter } from "./pages.ts";
import { columnsOfClass, type TableName } from "./personal-columns.ts";
import {
  bodySizes,
  indexAgain,
  type Row,
  type TableStatements,
  tableStatements,
} from "./persons.sql.ts";

/** A row whose texts name the person. */
export interface NamedRow {
  readonly table: TableName;
  readonly id: string;
  /** The fields that do. `body` is the webhook as it was sent. */
  readonly fields: readonly string[];
  readonly by: NamedBy;
}

interface FoundRow {
  readonly shown: NamedRow;
  readonly table: TableStatements;
  readonly row: Row;
}

/** The bodies that are in memory at once, unless a single one is larger. */
const maxPageBytes = 8 * 2 ** 20;

/**
 * Reads all texts and bodies of the database, page by page, for rows that name the person. `onProgress` receives the
 * number of rows that were read.
 */
export async function* namedRows(
  storage: Storage,
  naming: Naming,
  onProgress: (rows: number) => void,
): AsyncGenerator<readonly FoundRow[]> {
  let rows = 0;
  for (const table of tableStatements) {
    for await (const page of textPages(storage, table)) {
      rows += page.length;
      onProgress(rows);
      const found = page.flatMap((row) => namedIn(table, row, naming) ?? []);
      if (found.length > 0) yield found;
    }
  }
}

async function* textPages(
  storage: Storage,
  table: TableStatements,
): AsyncGenerator<readonly Row[]> {
  const { name, texts } = table;
  let after: Row | null = null;
  for (let hasMore = texts !== null; hasMore && texts !== null;) {
    const limit = name === "events" ? await eventsPerPage(storage, after) : batchSize;
    const page: readonly Row[] = await storage.all(
      ...pageAfter(table, texts.pages, after, { limit }),
      "long",
    );
    yield page;
    after = page.at(-1) ?? null;
    hasMore = page.length === limit;
  }
}

/** How many events after this one can be read at once; at least one. */
async function eventsPerPage(storage: Storage, after: Row | null): Promise<number> {
  const sizes = await storage.all(bodySizes, { id: textOf(after?.["id"]), limit: batchSize });
  let bytes = 0;
  const count = sizes.findIndex((size) => (bytes += size.bytes) > maxPageBytes);
  return count === -1 ? batchSize : Math.max(1, count);
}

function namedIn(table: TableStatements, row: Row, naming: Naming): FoundRow | null {
  const found = columnsOfClass(table.of, "text").flatMap((field) => {
    const by = naming.find(textOf(row[field]));
    return by === null ? [] : [{ field, by }];
  });
  const by = namedBy.find((each) => found.some((one) => one.by === each));
  if (by === undefined) return null;
  const id = textOf(row["id"] ?? keyOf(table, row));
  return {
    shown: { table: table.name, id, fields: found.map(({ field }) => field), by },
    table,
    row,
  };
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : JSON.stringify(value);
}

/**
 * Removes the person from these rows: bodies and rejections are deleted, in other texts `[erased]` replaces what names
 * the person. Events stay with their idempotency keys, so that a retry of the provider is not stored again. The
 * operators' destinations stay as they are: only they know where else to send.
 */
export async function redactRows(
  storage: Storage,
  naming: Naming,
  found: readonly FoundRow[],
): Promise<void> {
  const changed = found.filter(({ table }) => table.name !== "destinations");
  const writes = changed.map(({ table, row }) => {
    if (table.name === "rejections" || table.texts === null) return write(table.delete, row);
    const texts = columnsOfClass(table.of, "text").map((field) => {
      const value = row[field];
      return [field, value instanceof Uint8Array ? null : naming.redact(value)];
    });
    return write(table.texts.set, { ...row, ...Object.fromEntries(texts) });
  });
  const ids = changed.filter(({ table }) => table.name === "events").map(({ shown }) => shown.id);
  await storage.atomically(...writes, ...(ids.length === 0 ? [] : [write(indexAgain, { ids })]));
}
