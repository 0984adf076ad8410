import { access } from "./list/access.ts";
import { bookings } from "./list/bookings.ts";
import { deliveries } from "./list/deliveries.ts";
import { destinations } from "./list/destinations.ts";
import { durability } from "./list/durability.ts";
import { listening } from "./list/listening.ts";
import { lists } from "./list/lists.ts";
import { notifications } from "./list/notifications.ts";
import { onboarding } from "./list/onboarding.ts";
import { openid } from "./list/openid.ts";
import { payments } from "./list/payments.ts";
import { requests } from "./list/requests.ts";
import { retention } from "./list/retention.ts";
import { search } from "./list/search.ts";
import { sessions } from "./list/sessions.ts";
import { transactions } from "./list/transactions.ts";
import { verification } from "./list/verification.ts";
import type { Mutant } from "./mutant.ts";

/** The mutants of each kind of promise. */
export const kinds: readonly (readonly Mutant[])[] = [
  durability,
  transactions,
  deliveries,
  verification,
  onboarding,
  notifications,
  destinations,
  listening,
  bookings,
  payments,
  access,
  sessions,
  openid,
  lists,
  search,
  retention,
  requests,
];

export const mutants: readonly Mutant[] = kinds.flat();
