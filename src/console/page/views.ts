import type { Route, View } from "./route.ts";
import type { SessionInfo } from "./wire.ts";

export type Roles = SessionInfo["roles"];

export interface ViewParts {
  readonly route: Route;
  /** Only admins may change some things. The API enforces it; this only hides the controls. */
  readonly isAdmin: boolean;
}

export const titles: Readonly<Record<View, string>> = {
  issues: "Issues",
  events: "Events",
  rejections: "Rejected",
  health: "Health",
  providers: "Providers",
  destinations: "Destinations",
  flights: "Flights",
  bookings: "Bookings",
  audit: "Audit",
  replays: "Replays",
};

const forAdmins: readonly View[] = ["bookings", "audit"];

/** Only admins may see some views. The API enforces it; this only hides them. */
export function canOpen(view: View, roles: Roles): boolean {
  return !forAdmins.includes(view) || roles.includes("admin");
}
