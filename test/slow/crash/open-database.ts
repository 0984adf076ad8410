// A process that only opens the database, which migrates it.
import { openStorage } from "../../../src/db/open.ts";
import { schema } from "../../../src/schema/schema.ts";

await (await openStorage(schema, process.argv[2] ?? "")).close();
