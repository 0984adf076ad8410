import { readDocs } from "./folder.ts";

/** The documentation. The compiled program contains it. */
export const docs = await readDocs();
