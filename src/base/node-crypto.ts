import { lazy } from "./lazy.ts";

/** `node:crypto`, loaded when it is first needed: that takes half as long as a bare server's whole start. */
export const nodeCrypto = lazy(() => process.getBuiltinModule("node:crypto"));
