import type { ComponentChildren } from "preact";

import type { ApiError } from "../kit/api.ts";
import { dateAndTime } from "../kit/durations.ts";
import { useLoad } from "../kit/load.ts";
import { writeRoute } from "../kit/route.ts";
import { type Of, Text, words } from "../kit/text.tsx";
import { Mark } from "../kit/ui.tsx";
import type { Page, Replay, ReplayOutcome } from "../kit/wire.ts";

/** What became of an event, in the order of the page. Each has a shape of its own. */
export const outcomes = [
  ["resent", "↻", "Sent again", "Failed notifications were sent again."],
  ["notified", "✓", "New notifications", "No notification had failed, so new ones were sent."],
  ["silent", "–", "Nothing to send", "The event has no notifications, or no undelivered ones."],
  ["deleted", "∅", "Deleted", "Retention deleted the event before its turn."],
  ["failed", "✕", "Failed", "The event could not be replayed."],
] as const satisfies readonly (readonly [ReplayOutcome, string, string, string])[];

/** How many events had their turn. */
export function doneOf(replay: Replay): number {
  return outcomes.reduce((sum, [name]) => sum + replay[name], 0);
}

/** `Dead, code_host, deploy.*, “build failed”, since 21 Nov 2026, 09:00` */
export function filtersText(filters: Replay["filters"]): string {
  const { from, to: _, q, delivery, onlyUndelivered, ...others } = filters;
  const search = isGiven(q) ? `“${q}”` : null;
  const since = isGiven(from) ? `since ${dateAndTime(new Date(from))}` : null;
  // Earlier versions did not store it.
  const all = onlyUndelivered === false ? "with delivered events" : null;
  const parts = [delivery, ...Object.values(others), search, since, all];
  const text = parts.filter(isGiven).join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The name of a destination; its id until it is loaded, or if the destination was removed. */
export function useDestinationName(id: string | null | undefined): string | null {
  const path = isGiven(id) ? `v1/destinations/${encodeURIComponent(id)}` : null;
  const { value } = useLoad<{ readonly name: string }>(path);
  return value?.name ?? id ?? null;
}

/** The filters that are set, as the API takes them. `onlyUndelivered` is not one: it is chosen each time. */
export function queryOf(filters: Replay["filters"]): Readonly<Record<string, string>> {
  const entries = Object.entries(filters).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value] as const] : [],
  );
  return Object.fromEntries(entries);
}

function isGiven<Value>(value: Value | null | undefined): value is Value {
  return value !== null && value !== undefined;
}

const marks = {
  running: ["pending", "▸", "Running"],
  stopped: ["retrying", "■", "Stopped"],
  finished: ["delivered", "✓", "Finished"],
} as const satisfies Record<Replay["status"], StatusMark>;
type StatusMark = readonly [tone: string, glyph: string, text: string];
const markByStatus: ReadonlyMap<string, StatusMark> = new Map(Object.entries(marks));

/** By shape, colour and word. */
export function ReplayStatus({ of: { status, failed } }: Of<Replay>) {
  // A newer version may have stored another status.
  const [tone, glyph, text] = markByStatus.get(status) ?? ["pending", "?", words(status)];
  const hasFailed = status === "finished" && failed > 0;
  return (
    <Mark
      look={`small ${hasFailed ? "dead" : tone}`}
      glyph={hasFailed ? "✕" : glyph}
      label={text}
    />
  );
}

interface ErrorParts {
  /** What failed, as a sentence. */
  readonly title: string;
  readonly error: ApiError;
  readonly children?: ComponentChildren;
}

/** An error of the API in words: what is wrong with the body and, where another replay runs, where it is. */
export function ReplayError({ title, error, children }: ErrorParts) {
  const { code, details, message, requestId } = error;
  return (
    <div class="state error" role="alert">
      <strong>{title}</strong>
      <p>
        <Text of={details.length > 0 ? details.join(". ") : message} />
      </p>
      {code === "replay-running" && <RunningReplay />}
      {requestId !== null && (
        <p>
          Request ID: <code>{requestId}</code>
        </p>
      )}
      {children}
    </div>
  );
}

/** Leads to the replay that runs. */
function RunningReplay() {
  const { value } = useLoad<Page<Replay>>("v1/replays?limit=100");
  const running = value?.data.find(({ status }) => status === "running");
  return (
    <p>
      <a href={writeRoute("replays", running?.id ?? null)}>
        {running === undefined ? "See all replays" : "Open the running replay"}
      </a>
    </p>
  );
}
