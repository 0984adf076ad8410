// A process that does what every command does first, and no more: brings the database to our schema.
import { openStorage } from "../../../src/db/storage.ts";

await (await openStorage(process.argv[2] ?? "")).close();
