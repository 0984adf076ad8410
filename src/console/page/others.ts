import { Access } from "./access/access.tsx";
import { AuditView } from "./audit.tsx";
import { Bookings } from "./bookings/bookings.tsx";
import { Flights } from "./bookings/flights.tsx";
import { Destinations } from "./destinations/destinations.tsx";
import { HealthView } from "./health/health.tsx";
import { People } from "./people/people.tsx";
import { ProvidersView } from "./providers/providers.tsx";
import { Replays } from "./replays/replays.tsx";

/** The views that are loaded after the first one: see later.tsx. */
export const others = {
  Access,
  AuditView,
  Bookings,
  Flights,
  Destinations,
  HealthView,
  People,
  ProvidersView,
  Replays,
};
