import { Database } from "bun:sqlite";

import { openStorage } from "../src/db/open.ts";
import { indexEvents } from "../src/events/index-batch.ts";
import { schema } from "../src/schema/schema.ts";

import { fill } from "./rows.ts";

const batchSize = 1_000;

/** Processor time of indexing one event, over all threads, in microseconds. */
export async function indexMicros(file: string, rows: number): Promise<number> {
  fill(file, [{ table: "events", rows, stepMs: 1_000 }]);
  queueAll(file);
  const storage = await openStorage(schema, `sqlite:${file}`);
  const before = process.cpuUsage();
  for (let done = batchSize; done === batchSize;) {
    const sizes = { unread: 0, toQueue: 0, queued: batchSize };
    done = (await indexEvents(storage, sizes)).seqs.length;
  }
  const { user, system } = process.cpuUsage(before);
  await storage.close();
  return (user + system) / rows;
}

/** Gives events words of different frequency, and queues them. */
function queueAll(file: string): void {
  using database = new Database(file, { strict: true });
  database.run("drop trigger events_queued_again");
  database.run(
    "update events set title = title || ' word' || (abs(random()) % 9973) || ' word' || (abs(random()) % 9973)",
  );
  database.run("insert into search_queue (event_id) select id from events order by created_at, id");
}
