import { bearers } from "./bearers.ts";
import { compact } from "./compact.ts";
import { deliveries } from "./deliveries.ts";
import { grants } from "./grants.ts";
import { documents, graphqlTexts } from "./graphql.ts";
import { headers } from "./headers.ts";
import { bodies, paths, queries } from "./operations.ts";
import { fileSyntax } from "./provider-files.ts";
import type { Target } from "./target.ts";
import { wire } from "./wire.ts";

/** All that is fuzzed, in the order of its turns. */
export const targets: readonly Target[] = [
  bodies,
  queries,
  paths,
  grants,
  headers,
  bearers,
  deliveries,
  documents,
  graphqlTexts,
  wire,
  fileSyntax,
  compact,
];
