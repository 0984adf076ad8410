import { join } from "node:path";

import { removeFolder, temporaryFolder } from "../support/program.ts";

/** A kind of database that the model is held against. */
export interface DatabaseKind {
  readonly name: string;
  /** An empty database of its own. */
  open(): Promise<OpenDatabase>;
}

export interface OpenDatabase {
  readonly url: string;
  remove(): Promise<void>;
}

/** All kinds: a further one needs an entry here and nothing else. */
export const databases: readonly DatabaseKind[] = [
  {
    name: "sqlite",
    async open() {
      const folder = temporaryFolder();
      return {
        url: `sqlite:${join(folder, "model.db")}`,
        async remove() {
          removeFolder(folder);
        },
      };
    },
  },
];
