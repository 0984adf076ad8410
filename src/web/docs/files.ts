import { readDocs } from "./folder.ts" with { type: "macro" };

/** The documentation: read when the program is compiled or, from source, when this file is first loaded. */
export const docs = await readDocs();
