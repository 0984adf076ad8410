import licence from "../../../node_modules/@scalar/api-client/LICENSE" with { type: "text" };
import scalar from "../../../node_modules/@scalar/api-reference/dist/browser/standalone.js" with { type: "text" };
import { gzipped } from "../asset.ts";

/** The API page's script. The compiled program contains it as it is served. */
export const script = gzipped(`/*!\n${licence}*/\n${scalar}`);
