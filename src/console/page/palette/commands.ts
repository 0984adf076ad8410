import { attempt } from "../action.tsx";
import { callApi } from "../api.ts";
import { copy } from "../copy.tsx";
import { addRoute } from "../providers/adding.ts";
import { go, readRoute, views, writeRoute } from "../route.ts";
import { leave } from "../session/sign-out.ts";
import { setTheme } from "../theme.ts";
import { canOpen, type Roles, titles } from "../views.ts";
import type { BookingItem, DestinationDetail, EventItem, Page, Provider } from "../wire.ts";

import { type Command, idIn, referenceOf } from "./command.ts";

/** The commands that depend on the roles only. */
export function fixedCommands(roles: Roles, showHelp: () => void): readonly Command[] {
  return [...viewCommands(roles), ...actions(roles, showHelp)];
}

/** A command that opens an address. */
const link = (
  group: Command["group"],
  id: string,
  label: string,
  address: string,
  more: Pick<Command, "hint" | "keywords"> = {},
): Command => ({ id, group, label, address, ...more });

function viewCommands(roles: Roles): readonly Command[] {
  return views.flatMap((view, index) => {
    if (!canOpen(view, roles)) return [];
    // The keys 1 to 9, and 0, which the other views have not.
    const key = index < 10 ? { hint: String((index + 1) % 10) } : {};
    return link("Views", `view-${view}`, titles[view], writeRoute(view), key);
  });
}

function actions(roles: Roles, showHelp: () => void): readonly Command[] {
  const group = "Actions";
  const forAdmins = [
    link(group, "add-provider", "Add provider", addRoute()),
    link(group, "new-destination", "New destination", writeRoute("destinations", "new"), {
      keywords: "add create",
    }),
  ];
  return [
    ...(roles.includes("admin") ? forAdmins : []),
    link(group, "new-agent", "Create token for an agent", writeRoute("agents", "new"), {
      keywords: "add new mcp",
    }),
    replayCommand(),
    ...(["light", "dark", null] as const).map((theme) => ({
      id: `theme-${theme ?? "system"}`,
      group,
      label: `Theme: ${theme ?? "system"}`,
      keywords: "colors mode",
      run: () => setTheme(theme),
    })),
    { id: "help", group, label: "Keyboard shortcuts", hint: "?", keywords: "help", run: showHelp },
    copied("link", "Copy the command for a sign-in link", "skyhook console"),
    copied("link-admin", "Copy the command for an admin link", "skyhook console --role admin"),
    { id: "sign-out", group, label: "Sign out", keywords: "log out leave", run: leave },
  ];
}

/** Where the list of events is open, with its filters. */
function replayCommand(): Command {
  const route = readRoute(location.hash);
  const query = route?.view === "events" ? route.query : new URLSearchParams();
  const label = query.size > 0 ? "Replay these events…" : "Replay events…";
  const keywords = "bulk resend again dry run";
  return link("Actions", "replay", label, writeRoute("replays", "new", query), { keywords });
}

function copied(id: string, label: string, command: string): Command {
  const keywords = "sign in log in login browser phone";
  return { id, group: "Actions", label, hint: command, keywords, run: () => void copy(command) };
}

/** Admins set a provider up; operators see its events. */
export function providerCommands(providers: readonly Provider[], roles: Roles): readonly Command[] {
  return providers.flatMap(({ provider: id, displayName: name }) => {
    const query = new URLSearchParams({ provider: id });
    const address = writeRoute("events", null, query);
    const events = link("Providers", `events-${id}`, `${name}: events`, address, { hint: id });
    if (!roles.includes("admin")) return [events];
    const more = { hint: id, keywords: "secret url connect" };
    const setUp = writeRoute("providers", id);
    return [events, link("Providers", `provider-${id}`, `${name}: set up`, setUp, more)];
  });
}

export function destinationCommands(
  destinations: readonly DestinationDetail[],
): readonly Command[] {
  return destinations.map(({ id, name, format }) =>
    link("Destinations", id, name, writeRoute("destinations", id), { hint: format }),
  );
}

/** The events that have the words of a text. */
export function eventCommands(events: readonly EventItem[]): readonly Command[] {
  return events.map(({ id, title, type }) =>
    link("Events", id, title, writeRoute("events", id), { hint: type }),
  );
}

/** What a pasted id names. */
export function jumps(text: string, roles: Roles): readonly Command[] {
  const found = idIn(text);
  if (found === null || !canOpen(found.view, roles)) return [];
  const { id, view, what } = found;
  return [link("Jump to", `jump-${id}`, `Open ${what}`, writeRoute(view, id), { hint: id })];
}

/** Where to search for a text that is no id. */
export function searches(text: string, roles: Roles): readonly Command[] {
  const q = text.trim();
  if (q === "") return [];
  const group = "Search";
  const search = (view: "events" | "bookings") => {
    const address = writeRoute(view, null, new URLSearchParams({ q }));
    return link(group, `search-${view}`, `Search ${view} for “${q}”`, address);
  };
  if (!canOpen("bookings", roles)) return [search("events")];
  const both = [search("events"), search("bookings")];
  const reference = referenceOf(q);
  if (reference === null) return both;
  const open = () => void openReference(reference);
  return [{ id: "reference", group, label: `Open booking ${reference}`, run: open }, ...both];
}

/** Opens the booking with a reference; without one, the list says so. */
async function openReference(reference: string): Promise<void> {
  const query = new URLSearchParams({ q: reference });
  await attempt("Opening the booking", async () => {
    const { data } = await callApi<Page<BookingItem>>(`v1/api/bookings?${query}&limit=2`);
    const [booking, another] = data;
    if (booking === undefined || another !== undefined) go("bookings", null, query);
    else go("bookings", booking.id);
  });
}
