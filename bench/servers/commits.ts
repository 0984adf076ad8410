import { Database } from "bun:sqlite";

import { median } from "../measure.ts";

// Prints the median time of a synced commit, in milliseconds. Runs in a process of its own, so that the
// library that delays syncs can be loaded into it.

const commits = 100;
const database = new Database(process.env["DATABASE"] ?? "");
database.run("pragma journal_mode = wal");
database.run("pragma synchronous = full");
database.run("create table if not exists rows (content text)");
const insert = database.prepare("insert into rows values (hex(randomblob(500)))");
const times = Array.from({ length: commits }, () => {
  const startMs = performance.now();
  insert.run();
  return performance.now() - startMs;
});
console.log(median(times));
