import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import { searchIn } from "../events/event-filters.tsx";
import { useLoad } from "../load.ts";
import { counted, Text } from "../text.tsx";
import type { Roles } from "../views.ts";
import type { DestinationDetail, EventItem, Page, Providers } from "../wire.ts";

import { type Command, commandGroups, matching } from "./command.ts";
import {
  destinationCommands,
  eventCommands,
  fixedCommands,
  jumps,
  providerCommands,
  searches,
} from "./commands.ts";

interface Parts {
  readonly roles: Roles;
  readonly showHelp: () => void;
  /** Called after it has closed, by a choice or without one. */
  readonly closed: () => void;
}

/** The command palette: a combobox with a list (WAI-ARIA APG) in a dialog, which opens with it. */
export function Palette({ roles, showHelp, closed }: Parts) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  const commands = useCommands(text, roles, showHelp);
  const active = commands.find(({ id }) => id === chosen) ?? commands[0];
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    if (active !== undefined)
      document.getElementById(optionId(active))?.scrollIntoView({ block: "nearest" });
  }, [active?.id]);

  const choose = (command: Command) => {
    // Returns the focus to where it was.
    dialog.current?.close();
    if ("run" in command) command.run();
    else visit(command.address);
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    if (event.isComposing) return;
    const at = commands.findIndex((command) => command === active);
    if (event.key === "Enter" && active !== undefined) choose(active);
    else if (event.key === "ArrowDown") setChosen(commands[(at + 1) % commands.length]?.id ?? null);
    else if (event.key === "ArrowUp") setChosen(commands.at(at - 1)?.id ?? null);
    else return;
    event.preventDefault();
  };

  return (
    <dialog
      class="palette"
      ref={dialog}
      aria-label="Command palette"
      onClose={closed}
      // A click beside the dialog is one on its backdrop.
      onClick={(event) => event.target === event.currentTarget && event.currentTarget.close()}
    >
      <div class="palette-bar">
        <input
          type="text"
          role="combobox"
          aria-label="Command, name or id"
          aria-expanded={commands.length > 0}
          aria-controls="commands"
          aria-autocomplete="list"
          aria-activedescendant={active && optionId(active)}
          placeholder="Type a command or paste an ID"
          value={text}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setChosen(null);
          }}
          onKeyDown={onKeyDown}
        />
        <button type="button" aria-label="Esc (close)" onClick={() => dialog.current?.close()}>
          <kbd>Esc</kbd>
        </button>
      </div>
      <div id="commands" role="listbox" aria-label="Commands">
        {commandGroups.map((group) => (
          <Group
            key={group}
            name={group}
            commands={commands.filter((command) => command.group === group)}
            active={active}
            hover={setChosen}
            choose={choose}
          />
        ))}
      </div>
      <p class="hidden-label" role="status">
        {counted(commands.length, "command")}
      </p>
    </dialog>
  );
}

/** What the palette offers for a text. Names are loaded each time it opens. */
function useCommands(text: string, roles: Roles, showHelp: () => void): readonly Command[] {
  const providers = useLoad<Providers>("v1/providers").value?.data ?? null;
  const destinations =
    useLoad<Page<DestinationDetail>>("v1/destinations?include=health&limit=100&owner=operators")
      .value?.data ?? null;
  const named = useMemo(
    () => [
      ...fixedCommands(roles, showHelp),
      ...providerCommands(providers ?? [], roles),
      ...destinationCommands(destinations ?? []),
    ],
    [roles, providers, destinations],
  );
  const events = useEvents(text);
  return useMemo(
    () => [
      ...jumps(text, roles),
      ...matching(named, text),
      ...eventCommands(events),
      ...searches(text, roles),
    ],
    [named, events, text, roles],
  );
}

/** The search runs when typing has paused for this long, for texts of at least so many letters. */
const pauseMs = 250;
const minSearched = 3;
const noEvents: readonly EventItem[] = [];

/** The newest events that have the words. */
function useEvents(text: string): readonly EventItem[] {
  const [q, setQ] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setQ(text.trim()), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  const [name, words] = searchIn(new URLSearchParams({ q }));
  const search = new URLSearchParams({ [name]: words, limit: "5" });
  const { value } = useLoad<Page<EventItem>>(
    q.length < minSearched ? null : `v1/events?${search.toString()}`,
  );
  return value?.data ?? noEvents;
}

interface GroupParts {
  readonly name: string;
  readonly commands: readonly Command[];
  readonly active: Command | undefined;
  readonly hover: (id: string) => void;
  readonly choose: (command: Command) => void;
}

function Group({ name, commands, active, hover, choose }: GroupParts) {
  if (commands.length === 0) return null;
  return (
    <div role="group" aria-label={name}>
      <div class="palette-group" role="presentation">
        {name}
      </div>
      {commands.map((command) => (
        <div
          key={command.id}
          id={optionId(command)}
          class="command"
          role="option"
          aria-selected={command === active}
          onMouseMove={() => hover(command.id)}
          // Keeps the focus in the field.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => choose(command)}
        >
          <span class="cell">
            <Text of={command.label} />
          </span>
          {command.hint !== undefined && (
            <span class="cell hint">
              <Text of={command.hint} />
            </span>
          )}
        </div>
      ))}
    </div>
  );
}

function optionId({ id }: Command): string {
  return `command-${id}`;
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
