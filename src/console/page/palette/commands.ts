import { callApi } from "../api.ts";
import { toApiError } from "../load.ts";
import { addRoute } from "../providers/adding.ts";
import { go, readRoute, views, writeRoute } from "../route.ts";
import { leave } from "../session/sign-out.ts";
import { setTheme } from "../theme.ts";
import { copy, notify } from "../ui.tsx";
import { canOpen, type Roles, titles } from "../views.ts";
import type { BookingItem, DestinationDetail, Page, Provider } from "../wire.ts";

import { type Command, idIn, referenceOf } from "./command.ts";

/** The commands that depend on the roles only. */
export function fixedCommands(roles: Roles, showHelp: () => void): readonly Command[] {
  return [...viewCommands(roles), ...actions(roles, showHelp)];
}

function viewCommands(roles: Roles): readonly Command[] {
  return views.flatMap((view, index) =>
    canOpen(view, roles)
      ? {
          id: `view-${view}`,
          group: "Views",
          label: titles[view],
          // The keys 1 to 9.
          ...(index < 9 && { hint: String(index + 1) }),
          address: writeRoute(view),
        }
      : [],
  );
}

function actions(roles: Roles, showHelp: () => void): readonly Command[] {
  const group = "Actions";
  const forAdmins: readonly Command[] = [
    { id: "add-provider", group, label: "Add provider", address: addRoute() },
    {
      id: "new-destination",
      group,
      label: "New destination",
      keywords: "add create",
      address: writeRoute("destinations", "new"),
    },
  ];
  return [
    ...(roles.includes("admin") ? forAdmins : []),
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
  return {
    id: "replay",
    group: "Actions",
    label: query.size > 0 ? "Replay these events…" : "Replay events…",
    keywords: "bulk resend again dry run",
    address: writeRoute("replays", "new", query),
  };
}

function copied(id: string, label: string, command: string): Command {
  const keywords = "sign in log in login browser phone";
  return { id, group: "Actions", label, hint: command, keywords, run: () => void copy(command) };
}

/** Admins set a provider up; operators see its events. */
export function providerCommands(providers: readonly Provider[], roles: Roles): readonly Command[] {
  return providers.flatMap(({ provider, displayName }) => {
    const query = new URLSearchParams({ provider });
    const shared = { group: "Providers", hint: provider };
    const events: Command = {
      ...shared,
      id: `events-${provider}`,
      label: `${displayName}: events`,
      address: writeRoute("events", null, query),
    };
    const setUp: Command = {
      ...shared,
      id: `provider-${provider}`,
      label: `${displayName}: set up`,
      keywords: "secret url connect",
      address: writeRoute("providers", provider),
    };
    return roles.includes("admin") ? [events, setUp] : [events];
  });
}

export function destinationCommands(
  destinations: readonly DestinationDetail[],
): readonly Command[] {
  return destinations.map(({ id, name, format }) => ({
    id,
    group: "Destinations",
    label: name,
    hint: format,
    address: writeRoute("destinations", id),
  }));
}

/** What a pasted id names. */
export function jumps(text: string, roles: Roles): readonly Command[] {
  const found = idIn(text);
  if (found === null || !canOpen(found.view, roles)) return [];
  const { id, view, what } = found;
  return [
    {
      id: `jump-${id}`,
      group: "Jump to",
      label: `Open ${what}`,
      hint: id,
      address: writeRoute(view, id),
    },
  ];
}

/** Where to search for a text that is no id. */
export function searches(text: string, roles: Roles): readonly Command[] {
  const q = text.trim();
  if (q === "") return [];
  const group = "Search";
  const query = new URLSearchParams({ q });
  const reference = referenceOf(q);
  const events: Command = {
    id: "search-events",
    group,
    label: `Search events for “${q}”`,
    address: writeRoute("events", null, query),
  };
  if (!canOpen("bookings", roles)) return [events];
  const bookings: Command = {
    id: "search-bookings",
    group,
    label: `Search bookings for “${q}”`,
    address: writeRoute("bookings", null, query),
  };
  if (reference === null) return [events, bookings];
  const open = () => void openReference(reference);
  return [
    { id: "reference", group, label: `Open booking ${reference}`, run: open },
    events,
    bookings,
  ];
}

/** Opens the booking with a reference; without one, the list says so. */
async function openReference(reference: string): Promise<void> {
  const query = new URLSearchParams({ q: reference });
  try {
    const { data } = await callApi<Page<BookingItem>>(
      `v1/api/bookings?${query.toString()}&limit=2`,
    );
    const [booking, another] = data;
    if (booking === undefined || another !== undefined) go("bookings", null, query);
    else go("bookings", booking.id);
  } catch (cause) {
    notify(`Opening the booking failed. ${toApiError(cause).message}`, "bad");
  }
}
