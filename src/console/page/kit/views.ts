import type { Route, View } from "./route.ts";
import { isAdmin } from "./session.ts";

export interface ViewParts {
  readonly route: Route;
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
  people: "People",
  audit: "Audit",
  access: "Access",
  replays: "Replays",
};

/** Those that came last have a letter: digits are used up. */
export const viewKeys: Readonly<Record<View, string>> = {
  issues: "1",
  health: "2",
  events: "3",
  rejections: "4",
  replays: "5",
  providers: "6",
  destinations: "7",
  flights: "8",
  bookings: "9",
  people: "p",
  audit: "0",
  access: "a",
};

const forAdmins: readonly View[] = ["bookings", "people", "audit"];

export const canOpen = (view: View): boolean => !forAdmins.includes(view) || isAdmin();

/** The outlines of the views' icons, on a grid of 16. */
export const icons: Readonly<Record<View, string>> = {
  issues: "M8 2 14.5 13.5h-13ZM8 6.5v3.2M8 11.6v.1",
  health: "M1.5 8.5h3l2-5 3 9 2-4h3",
  events: "M5.5 4h8M5.5 8h8M5.5 12h8M2.4 4h.1M2.4 8h.1M2.4 12h.1",
  rejections: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2ZM3.8 3.8l8.4 8.4",
  replays: "M13.5 8a5.5 5.5 0 1 1-1.6-3.9M13.5 2v3h-3",
  providers: "M2 9.5V13h12V9.5M8 2v7.5M4.8 6.6 8 9.7l3.2-3.1",
  destinations: "M14 2 1.8 6.6l5.1 2.5 2.5 5.1ZM6.9 9.1 10 6",
  flights: "M1.8 9.2 14.2 3l-3 9.8-3.4-2.6-2.3 2.6-.4-3.9Z",
  bookings: "M2 4h12v2.6a1.5 1.5 0 0 0 0 2.8V12H2V9.4a1.5 1.5 0 0 0 0-2.8ZM10 4v8",
  people:
    "M6 3a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5ZM1.5 13.5a4.5 4.5 0 0 1 9 0M10.5 3.4a2.5 2.5 0 0 1 0 4.4M12 9.6a4.5 4.5 0 0 1 2.5 3.9",
  access: "M5.5 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7ZM8 7.5 13.5 2M11 4.5l2 2",
  audit: "M3.5 2h9v12h-9ZM6 5.5h4M6 8h4M6 10.5h2",
};
