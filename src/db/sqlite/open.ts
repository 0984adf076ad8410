import { constants, Database } from "bun:sqlite";
import { chmodSync } from "node:fs";
import { dirname } from "node:path";

import { makePrivateFolder } from "../../base/private-file.ts";
import { rowsOf } from "../compiler.ts";
import type { Schema } from "../schema.ts";
import type { Storage, StorageObserver } from "../storage.ts";

import { compile } from "./compile.ts";
import { closer, configure, preparer } from "./connection.ts";
import { requireSafeSqlite, versionOf } from "./durability.ts";
import { asUnavailable } from "./errors.ts";
import { groupCommit } from "./group-commit.ts";
import { identitiesOf, inPlace } from "./in-place.ts";
import { migrate } from "./migrate.ts";
import { threadReader } from "./reader.ts";
import { inlineWriter, threadWriter } from "./writer.ts";

/** How long a read blocks the event loop for another process's lock. */
const busyTimeoutMs = 25;

/** The page size of new files. SQLite's default, 4 KiB, holds one event and stays half empty. */
const pageBytes = 8_192;

/** 1 TiB: as good as no limit. */
const maxBytesInMemory = 2n ** 40n;

/** Connections that must not be closed or garbage-collected, because that would checkpoint their log. */
const leftOpen: Database[] = [];

/**
 * Opens the database in `file`, and creates it if it is missing. `:memory:` opens one in memory. This thread
 * reads on a connection of its own; the storage thread writes (writer.ts).
 */
export function openSqlite(
  schema: Schema,
  file: string,
  observer: StorageObserver,
  isForCopy: boolean,
): Storage {
  const { client, close, writer, reader, mayCheckpoint } =
    file === ":memory:" ? inMemory(schema) : onDisk(schema, file, observer, isForCopy);
  const commits = groupCommit(writer, observer);
  const prepare = preparer(client);
  let isClosed = false;
  return {
    dialect: "sqlite",
    async all(statement, values, pace = "short") {
      const { sql, bind, read } = compile(statement);
      if (read === null) throw new Error("A statement that returns no rows is not a read");
      try {
        const parameters = bind(values);
        const isLong = pace === "long" && reader !== null;
        const rows = isLong
          ? await reader.values(sql, parameters)
          : prepare(sql).values(...parameters);
        return rowsOf(statement, rows.map(read));
      } catch (error) {
        throw asUnavailable(error);
      }
    },
    atomically: commits.atomically,
    // SQLite makes a commit readable only after it is on disk.
    async settled() {},
    signals: null,
    async close() {
      await commits.close();
      if (isClosed) return;
      isClosed = true;
      await reader?.close();
      // The last connection to close checkpoints, so that is the writer's, or none.
      if (mayCheckpoint()) close();
      else leftOpen.push(client);
      await writer.close();
    },
  };
}

/** The bytes of an empty database of each schema: to copy them takes a twentieth of the migrations' time. */
const emptyImages = new WeakMap<Schema, Uint8Array>();

function inMemory(schema: Schema) {
  const client = Database.deserialize(emptyImages.get(schema) ?? emptyImage(schema), {
    strict: true,
  });
  // Else a copied database holds at most 1 GiB, unlike one that began empty.
  client.fileControl(constants.SQLITE_FCNTL_SIZE_LIMIT, new BigInt64Array([maxBytesInMemory]));
  configure(client, busyTimeoutMs);
  return {
    client,
    close: closer(client),
    writer: inlineWriter(client),
    // Another connection would not see the database.
    reader: null,
    mayCheckpoint: () => true,
  };
}

function emptyImage(schema: Schema): Uint8Array {
  using client = new Database(":memory:", { strict: true });
  migrate(client, schema, false);
  const image = client.serialize();
  emptyImages.set(schema, image);
  return image;
}

function onDisk(schema: Schema, file: string, observer: StorageObserver, isForCopy: boolean) {
  const { client, close, migrated } = openCurrent(schema, file, isForCopy);
  if (migrated.length > 0) observer.migrated(migrated);
  client.run("pragma query_only = on");
  const opened = identitiesOf(file);
  const place = inPlace(client, opened);
  const onDeath = (name: string, lost: string) => (why: string) =>
    observer.warning(`the ${name} thread ended (${why}) and is started again; its ${lost} failed`);
  return {
    client,
    close,
    writer: threadWriter(file, opened, onDeath("storage", "transactions")),
    reader: threadReader({ file, opened }, onDeath("reading", "read")),
    mayCheckpoint: () => place.mayCheckpoint(),
  };
}

/** Closes the connection before it throws, because callers that wait for a lock retry. */
function openCurrent(schema: Schema, file: string, isForCopy: boolean) {
  makePrivateFolder(dirname(file));
  const client = new Database(file, { create: true, strict: true });
  const close = closer(client);
  try {
    requireSafeSqlite(versionOf(client));
    chmodSync(file, 0o600);
    // Only changes a new file, before anything is written to it.
    client.run(`pragma page_size = ${pageBytes}`);
    configure(client, busyTimeoutMs);
    return { client, close, migrated: migrate(client, schema, isForCopy) };
  } catch (error) {
    close();
    throw error;
  }
}
