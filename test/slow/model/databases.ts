import { join } from "node:path";

import { postgresDatabase } from "../../support/databases.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";

/** A kind of database that the model is tested with. */
export interface DatabaseKind {
  readonly name: string;
  /** Creates an empty database. */
  open(): Promise<OpenDatabase>;
}

interface OpenDatabase {
  readonly url: string;
  /** Call it before reopening the database. */
  renew(): Promise<void>;
  remove(): Promise<void>;
}

/** All kinds. Add a kind here. */
export const databases: readonly DatabaseKind[] = [
  {
    name: "SQLite",
    async open() {
      const folder = temporaryFolder();
      return {
        url: `sqlite:${join(folder, "model.db")}`,
        renew: async () => {},
        async remove() {
          removeFolder(folder);
        },
      };
    },
  },
  {
    name: "PostgreSQL",
    async open() {
      const database = await postgresDatabase();
      return {
        url: database.url,
        renew: () => database.renew(),
        remove: async () => database[Symbol.asyncDispose](),
      };
    },
  },
];
