import { lazy } from "./lazy.ts";

/** `node:crypto`, loaded on first use: loading takes half as long as the whole startup of a bare server. */
export const nodeCrypto = lazy(() => process.getBuiltinModule("node:crypto"));
