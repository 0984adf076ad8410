import type { RefObject, TargetedKeyboardEvent } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";

import { attempt } from "./kit/action.tsx";
import { callApi } from "./kit/api.ts";
import { idIn } from "./kit/ids.ts";
import { useLoad } from "./kit/load.ts";
import { NamesContext } from "./kit/names.ts";
import { addRoute, readRoute, views, writeRoute } from "./kit/route.ts";
import { isAdmin } from "./kit/session.ts";
import { signOut } from "./kit/sign-out.ts";
import { counted, Text } from "./kit/text.tsx";
import { notify } from "./kit/ui.tsx";
import { canOpen, titles, viewKeys } from "./kit/views.ts";
import type { BookingItem, Destination, FoundPersons, Page } from "./kit/wire.ts";

interface Command {
  readonly label: string;
  /** Its key, or the id of what it opens. */
  readonly hint?: string;
  readonly keywords?: string;
  readonly run: () => void;
}

interface Parts {
  readonly dialog: RefObject<HTMLDialogElement | null>;
  readonly showHelp: () => void;
}

/** The command palette: a combobox with a list (WAI-ARIA APG) in a dialog. */
export function Palette({ dialog, showHelp }: Parts) {
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const names = useContext(NamesContext);
  const found = useFound(text);
  const destinations = useDestinationCommands(text !== "");
  const general = [...viewCommands(), ...actions(showHelp), ...providers(names), ...destinations];
  const commands = [...jumps(text), ...matching(general, text), ...found, ...searches(text)];
  const write = (written: string) => {
    setText(written);
    setActive(0);
  };
  useEffect(
    () => document.getElementById(`command-${active}`)?.scrollIntoView({ block: "nearest" }),
    [active],
  );
  const close = () => {
    write("");
    dialog.current?.close(); // Returns the focus to where it was.
  };
  const choose = (command: Command | undefined) => {
    close();
    command?.run();
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    if (event.isComposing) return;
    const { length } = commands;
    if (event.key === "Enter") choose(commands[active]);
    else if (event.key === "ArrowDown") setActive((active + 1) % length);
    else if (event.key === "ArrowUp") setActive((active + length - 1) % length);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      class="palette"
      ref={dialog}
      aria-label="Command palette"
      onCancel={() => write("")}
      // A click beside the dialog is one on its backdrop.
      onClick={(event) => event.target === event.currentTarget && close()}
    >
      <div class="palette-bar">
        <input
          type="text"
          role="combobox"
          aria-label="Command, name or id"
          aria-expanded={commands.length > 0}
          aria-controls="commands"
          aria-autocomplete="list"
          aria-activedescendant={`command-${active}`}
          placeholder="Type a command or paste an ID"
          value={text}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <button type="button" aria-label="Esc (close)" onClick={close}>
          <kbd>Esc</kbd>
        </button>
      </div>
      <div id="commands" role="listbox" aria-label="Commands">
        {commands.map((command, index) => (
          <div
            key={index}
            id={`command-${index}`}
            class="command"
            role="option"
            aria-selected={index === active}
            onMouseMove={() => setActive(index)}
            // Keeps the focus in the field.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => choose(command)}
          >
            <Text of={command.label} />
            <span class="mono quiet">
              <Text of={command.hint ?? ""} />
            </span>
          </div>
        ))}
      </div>
      <p class="hidden-label" role="status">
        {counted(commands.length, "command")}
      </p>
    </dialog>
  );
}

/** The commands that have all words of a text, first those whose label starts with it. */
function matching(commands: readonly Command[], text: string): readonly Command[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const startsOtherwise = ({ label }: Command) => Number(!label.toLowerCase().startsWith(wanted));
  return commands
    .filter(({ label, hint = "", keywords = "" }) => {
      const searched = `${label} ${hint} ${keywords}`.toLowerCase();
      return words.every((word) => searched.includes(word));
    })
    .toSorted((a, b) => startsOtherwise(a) - startsOtherwise(b));
}

const link = (label: string, address: string, more: Omit<Command, "label" | "run"> = {}) => ({
  label,
  ...more,
  run: () => visit(address),
});

function viewCommands(): readonly Command[] {
  return views.flatMap((view) =>
    canOpen(view)
      ? [link(titles[view], writeRoute(view), { hint: viewKeys[view].toUpperCase() })]
      : [],
  );
}

function actions(showHelp: () => void): readonly Command[] {
  // Where the list of events is open, with its filters.
  const route = readRoute(location.hash);
  const query = route?.view === "events" ? route.query : new URLSearchParams();
  const replay = query.size > 0 ? "Replay these events…" : "Replay events…";
  const forAdmins = [
    link("Add provider", addRoute()),
    link("New destination", writeRoute("destinations", "new"), { keywords: "add create" }),
  ];
  return [
    ...(isAdmin() ? forAdmins : []),
    link("Create token for an agent", writeRoute("access", "new"), { keywords: "add new mcp" }),
    link("Create API key", writeRoute("access", "new", new URLSearchParams({ kind: "key" })), {
      keywords: "add new token program",
    }),
    link(replay, writeRoute("replays", "new", query), { keywords: "bulk resend again dry run" }),
    { label: "Keyboard shortcuts", hint: "?", keywords: "help", run: showHelp },
    { label: "Sign out", keywords: "log out leave", run: signOut },
  ];
}

function providers(names: ReadonlyMap<string, string>): readonly Command[] {
  return [...names].map(([id, name]) => {
    const query = new URLSearchParams({ provider: id });
    return link(`${name}: events`, writeRoute("events", null, query), { hint: id });
  });
}

/** What a pasted id names. */
function jumps(text: string): readonly Command[] {
  const found = idIn(text);
  if (found === null || !canOpen(found.view)) return [];
  return [link(`Open ${found.what}`, writeRoute(found.view, found.id), { hint: found.id })];
}

/** Results are loaded when typing has paused for this long. */
const pauseMs = 250;
/** The most results of a kind. */
const maxResults = 5;

/** For admins, the bookings and people that a text finds. */
function useFound(text: string): readonly Command[] {
  const [q, setQ] = useState("");
  const typed = text.trim();
  useEffect(() => {
    const timer = setTimeout(() => setQ(typed), pauseMs);
    return () => clearTimeout(timer);
  }, [typed]);
  const isSearched = isAdmin() && q.length >= 2 && q.length <= 254 && idIn(q) === null;
  const query = new URLSearchParams({ q, limit: String(maxResults) });
  const bookings = useLoad<Page<BookingItem>>(isSearched ? `v1/api/bookings?${query}` : null);
  const people = useLoad<FoundPersons>(isSearched ? "v1/persons/find" : null, { body: { q } });
  // Results of another text would be opened by Enter.
  if (!isSearched || q !== typed) return [];
  return [
    ...(bookings.value?.data ?? []).map(({ id, reference, confirmationSentTo, flight }) =>
      link(`Booking ${reference} ${flight.flightNumber}`, writeRoute("bookings", id), {
        hint: confirmationSentTo,
      }),
    ),
    ...(people.value?.data ?? []).slice(0, maxResults).map(({ name, email, userId }) => {
      const id = email ?? userId ?? "";
      return link(`Person ${name ?? id}`, writeRoute("people", id), { hint: id });
    }),
  ];
}

/** For admins, what can be done to destinations. */
function useDestinationCommands(isTyping: boolean): readonly Command[] {
  const path = "v1/destinations?owner=operators&limit=100";
  const { value } = useLoad<Page<Destination>>(isTyping && isAdmin() ? path : null);
  return (value?.data ?? []).flatMap(({ id, name, state }) => {
    const post = <Answer,>(action: string) =>
      callApi<Answer>(`v1/destinations/${encodeURIComponent(id)}/${action}`, { method: "POST" });
    const command = (label: string, act: () => Promise<string>, keywords = "") => ({
      label,
      hint: "destination",
      keywords,
      run: () => void attempt(label, async () => notify(await act())),
    });
    const [verb, done] = state === "active" ? ["Pause", "Paused"] : ["Resume", "Resumed"];
    return [
      command(`${verb} ${name}`, () => post(verb.toLowerCase()).then(() => `${done} ${name}.`)),
      command(
        `Retry failed deliveries of ${name}`,
        async () => {
          const { retried } = await post<{ readonly retried: number }>("retry");
          if (retried === 0) return `No failed deliveries of ${name}.`;
          return `Sending ${counted(retried, "delivery", "deliveries")} to ${name} again.`;
        },
        "dead resend again",
      ),
    ];
  });
}

/** Where to search for a text. To choose it finishes its last word, as Enter does in a list. */
function searches(text: string): readonly Command[] {
  const q = text.trim();
  if (q === "") return [];
  return (["events", "bookings"] as const)
    .filter((view) => canOpen(view))
    .map((view) =>
      link(`Search ${view} for “${q}”`, writeRoute(view, null, new URLSearchParams({ q }))),
    );
}

/** Opens an address and focuses its pane or, without one, its view. */
function visit(address: string): void {
  const focus = () =>
    (
      document.querySelector<HTMLElement>("[data-pane]") ??
      document.querySelector<HTMLElement>("#main")
    )?.focus({ preventScroll: true });
  if (location.hash === address) return focus();
  // The view is rendered after the address has changed.
  addEventListener("hashchange", () => setTimeout(focus), { once: true });
  location.hash = address;
}
