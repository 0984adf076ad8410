import { join } from "node:path";

import { postgresDatabase } from "../../support/databases.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";

/** A kind of database that the model is held against. */
export interface DatabaseKind {
  readonly name: string;
  /** An empty database of its own. */
  open(): Promise<OpenDatabase>;
}

export interface OpenDatabase {
  readonly url: string;
  /** To be called between two openings of it. */
  renew(): Promise<void>;
  remove(): Promise<void>;
}

/** All kinds: a further one needs an entry here and nothing else. */
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
