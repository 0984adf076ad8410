import type { Database } from "bun:sqlite";

import { errorMessage } from "../../base/errors.ts";

import type { DatabaseFiles } from "./checkpoint-thread.ts";
import { checkpointer } from "./checkpointer.ts";
import { failureOf, storageError } from "./errors.ts";
import {
  type Bound,
  type Group,
  type GroupAnswer,
  groupRunner,
  type GroupStatement,
  type Parameter,
} from "./group.ts";
import type { Identities } from "./in-place.ts";
import { Packable } from "./packed.ts";
import type { ThreadAnswer, ThreadMessage } from "./storage-thread.ts";

/** A statement with its parameters. */
export interface BoundStatement {
  readonly sql: string;
  readonly onNoRows: GroupStatement[1];
  readonly parameters: readonly Bound[];
}

export interface BoundTransaction {
  readonly statements: readonly BoundStatement[];
  /** The first and the last position of its new events; null without one. */
  readonly positions: readonly [first: number, last: number] | null;
}

/** Runs and commits groups, one at a time. */
export interface Writer {
  /** Never rejects. Call it again only when the last call has resolved. */
  run(transactions: readonly BoundTransaction[]): Promise<GroupAnswer>;
  close(): Promise<void>;
}

/** Commits on the connection that also reads: a database in memory has only one, and never waits for a disk. */
export function inlineWriter(client: Database): Writer {
  const texts: string[] = [];
  const run = groupRunner(client, texts, () => {});
  const encode = groupEncoder();
  return {
    async run(transactions) {
      const group = encode(transactions);
      texts.push(...group.newTexts);
      return run(group);
    },
    async close() {},
  };
}

/**
 * Commits on a thread of its own, so that the event loop does not wait for the disk. If the thread ends
 * unexpectedly, the outcome of its group is unknown and the group fails; the next group starts another
 * thread, after `onDeath`.
 */
export function threadWriter(
  file: string,
  opened: Identities,
  onDeath: (why: string) => void,
): Writer {
  const files = { file, opened };
  const checkpoints = checkpointer(files);
  const start = () => startThread(files, () => checkpoints.start());
  let thread: StorageThread | null = start();
  return {
    async run(transactions) {
      thread ??= start();
      try {
        return await thread.run(transactions);
      } catch (error) {
        thread = null;
        const why = errorMessage(error);
        onDeath(why);
        const failure = failureOf(storageError(`The storage thread ended (${why}): see the log`));
        return { error: failure, isBegun: true, seconds: 0 };
      }
    },
    async close() {
      // The last connection to close checkpoints and removes the log.
      await checkpoints.close();
      await thread?.close();
    },
  };
}

type StorageThread = ReturnType<typeof startThread>;

function startThread(files: DatabaseFiles, onCheckpointDue: () => void) {
  // In the compiled program all entry points are in one folder (scripts/build.ts), hence the name alone.
  const worker = new Worker(new URL("./storage-thread.ts", import.meta.url));
  const encode = groupEncoder();
  let why = "";
  let ended: Error | null = null;
  let answer: PromiseWithResolvers<GroupAnswer> | null = null;
  worker.addEventListener("error", ({ message }) => (why = message));
  worker.addEventListener("close", ({ code }) => {
    ended = new Error(why || `code ${code}`);
    answer?.reject(ended);
  });
  worker.addEventListener("message", ({ data }: MessageEvent<ThreadAnswer>) => {
    if (data === "checkpoint") onCheckpointDue();
    else answer?.resolve(data);
  });

  /** One promise for each message: a promise for the life of the thread would keep all its waiters in memory. */
  async function ask(message: ThreadMessage, transfer: ArrayBuffer[] = []): Promise<GroupAnswer> {
    if (ended !== null) throw ended;
    worker.ref();
    try {
      worker.postMessage(message, transfer);
      answer = Promise.withResolvers();
      return await answer.promise;
    } finally {
      // Only a group that is under way keeps the process alive.
      worker.unref();
    }
  }

  worker.postMessage(files);
  worker.unref();
  return {
    run(transactions: readonly BoundTransaction[]) {
      const group = encode(transactions);
      return ask(group, [group.bytes.buffer]);
    },
    // Rejected when the thread ends.
    close: () => ask("close").catch(() => {}),
  };
}

/** Returns a function that turns transactions into a group for one connection. */
function groupEncoder(): (transactions: readonly BoundTransaction[]) => Group & {
  readonly bytes: Uint8Array<ArrayBuffer>;
} {
  const numbers = new Map<string, number>();
  return (transactions) => {
    const newTexts: string[] = [];
    const numberOf = (sql: string) => {
      let number = numbers.get(sql);
      if (number === undefined) {
        number = numbers.size;
        numbers.set(sql, number);
        newTexts.push(sql);
      }
      return number;
    };
    const { bytes, pack } = packer(transactions);
    const placed = transactions.find(({ positions }) => positions !== null);
    const [firstPosition] = placed?.positions ?? [null];
    const encoded = transactions.map(({ statements }) =>
      statements.map<GroupStatement>(({ sql, onNoRows, parameters }) => [
        numberOf(sql),
        onNoRows,
        parameters.map(pack),
      ]),
    );
    return { newTexts, transactions: encoded, bytes, firstPosition };
  };
}

/** Copies all bytes of a group into one buffer, which can then change its thread without another copy. */
function packer(transactions: readonly BoundTransaction[]) {
  let length = 0;
  for (const { statements } of transactions) {
    for (const { parameters } of statements) {
      for (const value of parameters) if (value instanceof Uint8Array) length += value.length;
    }
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  const pack = (value: Bound): Parameter => {
    if (!(value instanceof Uint8Array)) return value;
    const start = offset;
    bytes.set(value, start);
    offset += value.length;
    return [start, value.length, value instanceof Packable];
  };
  return { bytes, pack };
}
