// A process that does what every command does first, and no more: brings the database to our schema.
import { openStorage } from "../../../src/db/open.ts";
import { schema } from "../../../src/schema/schema.ts";

await (await openStorage(schema, process.argv[2] ?? "")).close();
