import { grants, users } from "./accounts.ts";
import { bearers } from "./bearers.ts";
import { bookings } from "./bookings.ts";
import { compact } from "./compact.ts";
import { deliveries } from "./deliveries.ts";
import { flightPlans } from "./flight-plans.ts";
import { documents, graphqlTexts } from "./graphql.ts";
import { headers } from "./headers.ts";
import { cursors, lists } from "./lists.ts";
import { money } from "./money.ts";
import { outgoing } from "./outgoing.ts";
import { filePayloads, fileSyntax } from "./provider-files.ts";
import { paths } from "./routes.ts";
import { signatures } from "./signatures.ts";
import type { Target } from "./target.ts";
import { wire } from "./wire.ts";

/** All that is fuzzed, in the order of its turns. */
export const targets: readonly Target[] = [
  bookings,
  users,
  grants,
  lists,
  paths,
  headers,
  bearers,
  deliveries,
  documents,
  graphqlTexts,
  wire,
  signatures,
  filePayloads,
  fileSyntax,
  compact,
  outgoing,
  cursors,
  money,
  flightPlans,
];
