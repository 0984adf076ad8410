import { Database } from "bun:sqlite";

import { openStorage } from "../src/db/open.ts";
import { indexEvents } from "../src/events/index-batch.ts";
import { schema } from "../src/schema/schema.ts";

import { fill } from "./rows.ts";

/** Processor time of indexing one event, over all threads, in microseconds. */
export async function indexMicros(file: string, rows: number): Promise<number> {
  fill(file, [{ table: "events", rows, stepMs: 1_000 }]);
  vary(file);
  const storage = await openStorage(schema, `sqlite:${file}`);
  const before = process.cpuUsage();
  while ((await indexEvents(storage)).hasMore);
  const { user, system } = process.cpuUsage(before);
  await storage.close();
  return (user + system) / rows;
}

/** Gives events words of different frequency. */
function vary(file: string): void {
  using database = new Database(file, { strict: true });
  database.run(
    "update events set title = title || ' word' || (abs(random()) % 9973) || ' word' || (abs(random()) % 9973)",
  );
}
