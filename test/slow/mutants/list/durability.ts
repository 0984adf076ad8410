import type { Mutant } from "../mutant.ts";

export const durability: readonly Mutant[] = [
  // What is acknowledged is on disk.
  {
    name: "acknowledged-before-commit",
    breaks: "a delivery is acknowledged after its commit",
    changes: [
      [
        "src/db/sqlite/group.ts",
        `client.run("commit");`,
        `queueMicrotask(() => client.run("commit"));`,
      ],
    ],
    noticedBy: [
      "test/slow/faults/disk.test.ts",
      "answers 503 and recovers when the disk reports another error [DB-2]",
    ],
  },
  {
    name: "commits-not-synced",
    breaks: "a commit is on disk before it is acknowledged",
    changes: [
      ["src/db/sqlite/durability.ts", "pragma synchronous = full", "pragma synchronous = off"],
    ],
    noticedBy: ["test/slow/power-cut/power-cut.test.ts", "loses nothing: service"],
  },
  {
    name: "commits-synced-by-checkpoints-only",
    breaks: "a commit is on disk before it is acknowledged",
    changes: [
      ["src/db/sqlite/durability.ts", "pragma synchronous = full", "pragma synchronous = normal"],
    ],
    noticedBy: ["test/slow/power-cut/power-cut.test.ts", "loses nothing: service"],
  },
  {
    name: "drive-cache-not-flushed",
    breaks: "on macOS a commit is on disk, not in the cache of the drive",
    changes: [["src/db/sqlite/durability.ts", `client.run("pragma fullfsync = on");`, ""]],
    noticedBy: [
      "test/db/sqlite/durability.test.ts",
      "commits are synced, on macOS through the cache of the drive",
    ],
  },
  {
    name: "new-folder-not-synced",
    breaks: "the data folder is on disk, with its name, before it is used",
    changes: [
      [
        "src/base/private-file.ts",
        "for (const path of missing) syncNames(dirname(path));",
        "void missing;",
      ],
    ],
    noticedBy: ["test/slow/power-cut/power-cut.test.ts", "loses nothing: service"],
  },
  {
    name: "folder-not-synced",
    breaks: "a key is on disk, with its name, before it is used",
    changes: [
      [
        "src/base/private-file.ts",
        `if (process.platform !== "win32") syncToDisk(folder);`,
        "void folder;",
      ],
    ],
    noticedBy: [
      "test/base/private-file.test.ts",
      "syncs the file before it is renamed, and the folder before the secret is used",
    ],
  },
  {
    name: "file-not-synced",
    breaks: "a key is on disk before it has its name",
    changes: [
      [
        "src/base/private-file.ts",
        `writeFileSync(descriptor, content);
    // The key must be on disk before any data that is encrypted with it.
    fsyncSync(descriptor);`,
        "writeFileSync(descriptor, content);",
      ],
    ],
    noticedBy: [
      "test/base/private-file.test.ts",
      "syncs the file before it is renamed, and the folder before the secret is used",
    ],
  },
  {
    name: "close-drops-waiting-commits",
    breaks: "a stop commits the transactions that wait",
    changes: [
      ["src/db/sqlite/group-commit.ts", "if (waiting.length + underWay === 0) return;", "return;"],
    ],
    noticedBy: ["test/db/storage.test.ts", "are committed by close if they wait"],
  },
  {
    name: "sigterm-ends-at-once",
    breaks: "SIGTERM answers what is under way",
    changes: [
      [
        "src/cli/serve.ts",
        "setTimeout(killItself, stopTimeoutMs).unref();",
        "setTimeout(() => process.exit(0), 1);",
      ],
    ],
    noticedBy: [
      "test/slow/shutdown.test.ts",
      "under load: answers what is under way, loses nothing, ends streams, exits 0",
    ],
  },
  {
    name: "two-servers-on-one-folder",
    breaks: "one server at a time writes to a database file",
    changes: [
      ["src/db/sqlite/server-lock.ts", `client.run("begin exclusive");`, `client.run("begin");`],
    ],
    noticedBy: [
      "test/slow/cli/one-server.test.ts",
      "of ten servers that start at once, one serves",
    ],
  },
  {
    name: "dead-storage-thread-kept",
    breaks: "a storage thread that died is started again",
    changes: [
      [
        "src/db/sqlite/writer.ts",
        `        thread = null;
        const why`,
        "        const why",
      ],
    ],
    noticedBy: [
      "test/db/sqlite/writer.test.ts",
      "fails its group with `unavailable`; the next group has a new thread [DB-21]",
    ],
  },
  {
    name: "replaced-file-written-to",
    breaks: "a database file that was removed is not written to",
    changes: [
      [
        "src/db/sqlite/in-place.ts",
        "if (moved !== undefined) throw lost(",
        "if (moved === null) throw lost(",
      ],
    ],
    noticedBy: [
      "test/slow/faults/database.test.ts",
      "was removed is not written to: 503, not ready, but alive [DB-8]",
    ],
  },
  {
    name: "emptied-file-accepted",
    breaks: "a database file that lost its content stops the start",
    changes: [
      [
        "src/cli/database.ts",
        "if (file === null || bytesOf(file) !== 0) return;",
        "if (file === null || bytesOf(file) !== -1) return;",
      ],
    ],
    noticedBy: [
      "test/slow/faults/damage.test.ts",
      "prevents the start and every command if the database was in use before [DB-18]",
    ],
  },
  {
    name: "unsafe-sqlite-used",
    breaks: "a version of SQLite that can corrupt the database is refused",
    changes: [
      [
        "src/db/sqlite/durability.ts",
        "if (!hasWalResetBug(version)) return;",
        "if (version !== null) return;",
      ],
    ],
    noticedBy: [
      "test/db/sqlite/durability.test.ts",
      "prevents the use of a database file, with what to do [DB-19]",
    ],
  },
];
