// The entry of the reading thread: a connection for reads that may take long. Each read is answered in turn.

import { Database } from "bun:sqlite";

import type { DatabaseFiles } from "./checkpoint-thread.ts";
import { closer, configure, preparer } from "./connection.ts";
import { type DatabaseFailure, failureOf } from "./errors.ts";
import type { Bound } from "./group.ts";
import { requireUnmoved } from "./in-place.ts";

/** First what to open, then reads, then the end. Each read is answered with a `ReadAnswer`. */
export type ReadMessage =
  DatabaseFiles | { readonly sql: string; readonly parameters: readonly Bound[] } | "close";

export type ReadAnswer = { readonly rows: unknown[][] } | { readonly error: DatabaseFailure };

declare const self: Worker;

/** How long a read waits for another process's lock. */
const lockPatienceMs = 2_000;

let files: DatabaseFiles | null = null;
let open: ReturnType<typeof connect> | null = null;

self.addEventListener("message", ({ data }: MessageEvent<ReadMessage>) => {
  if (data === "close") {
    open?.close();
    process.exit(0);
  }
  if ("file" in data) files = data;
  else if (files !== null) self.postMessage(answer(files, data.sql, data.parameters));
});

function answer(
  { file, opened }: DatabaseFiles,
  sql: string,
  parameters: readonly Bound[],
): ReadAnswer {
  try {
    // Another database under this name would get the log of this one.
    requireUnmoved(opened);
    open ??= connect(file);
    return { rows: open.prepare(sql).values(...parameters) };
  } catch (error) {
    return { error: failureOf(error) };
  }
}

function connect(file: string) {
  const client = new Database(file, { readwrite: true, strict: true });
  const close = closer(client);
  try {
    configure(client, lockPatienceMs);
    client.run("pragma query_only = on");
    return { prepare: preparer(client), close };
  } catch (error) {
    close();
    throw error;
  }
}
