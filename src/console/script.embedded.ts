import { bundlePage } from "./bundle.ts";

/** The console's browser code as one script. The compiled program contains it. */
export const script = await bundlePage();
