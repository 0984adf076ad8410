import { attempt } from "../kit/action.tsx";
import { callApi } from "../kit/api.ts";
import { Page } from "../kit/layout.tsx";
import { useInterval } from "../kit/live.ts";
import { useLoad } from "../kit/load.ts";
import { writeRoute } from "../kit/route.ts";
import { counted, type Of, Text, words } from "../kit/text.tsx";
import { Time } from "../kit/time.tsx";
import { Badge, Empty, notify, Source, Waiting } from "../kit/ui.tsx";
import type { Issue, IssueList } from "../kit/wire.ts";

import { FirstSteps, useChecklist } from "./checklist.tsx";

const path = "v1/issues";
const pollIntervalMs = 5_000;
const countIntervalMs = 15_000;

/** The Issues view: what is wrong now, why, and what to do about it. */
export function Issues() {
  const loaded = useLoad<IssueList>(path);
  const { value, reload } = loaded;
  useInterval(reload, pollIntervalMs);
  const checklist = useChecklist();
  const open = value?.data.filter(isOpen) ?? [];
  const muted = value?.data.filter((issue) => !isOpen(issue)) ?? [];
  return (
    <Page title="Issues">
      <Waiting for={loaded} what="issues" />
      {checklist !== null && <FirstSteps {...checklist} />}
      {value !== null && open.length === 0 && checklist === null && <NoIssues />}
      {open.length > 0 && <Cards issues={open} reload={reload} />}
      {muted.length > 0 && (
        <details class="muted">
          <summary>Muted ({muted.length})</summary>
          <Cards issues={muted} reload={reload} />
        </details>
      )}
    </Page>
  );
}

const isOpen = ({ mutedUntil }: Issue): boolean => mutedUntil === null;

/** The number of issues that are not muted, for the navigation. */
export function useIssueCount(): number {
  const { value, reload } = useLoad<IssueList>(path);
  useInterval(reload, countIntervalMs);
  return value?.data.filter(isOpen).length ?? 0;
}

function NoIssues() {
  return (
    <Empty title="No issues">
      <p>Every delivery was verified, and every notification was delivered or is on its way.</p>
      <p>
        See the latest <a href={writeRoute("events")}>events</a>, or send a signed sample:
      </p>
      <pre>skyhook send code_host workflow_run.completed</pre>
    </Empty>
  );
}

interface CardsParts {
  readonly issues: readonly Issue[];
  readonly reload: () => void;
}

function Cards({ issues, reload }: CardsParts) {
  return (
    <ul class="issues">
      {issues.map((issue) => (
        <li key={issue.id} class="issue panel">
          <header>
            <Glyph of={issue} />
            <h2>{titleOf(issue)}</h2>
            <Badge tone="quiet">
              <Text of={words(issue.cause)} />
            </Badge>
          </header>
          <p>{issue.advice}</p>
          <footer>
            <Origin of={issue} />
            <Actions of={issue} reload={reload} />
          </footer>
        </li>
      ))}
    </ul>
  );
}

/** As in lists: shape and colour say how bad it is. */
function Glyph({ of: { kind } }: Of<Issue>) {
  const isRetried = kind === "retrying";
  const isUrgent = kind !== "rejected" && kind !== "provider-silent";
  const state = isRetried ? "retrying" : isUrgent ? "dead" : "warned";
  return (
    <span class={`mark ${state}`} aria-hidden="true">
      <span class="glyph">{isRetried ? "↻" : isUrgent ? "✕" : "!"}</span>
    </span>
  );
}

function titleOf({ kind, destination, count, hasMore }: Issue): string {
  const number = `${count.toLocaleString("en")}${hasMore ? "+" : ""}`;
  const isOne = count === 1;
  switch (kind) {
    case "circuit-open":
      return `Sending to ${destination} is suspended, ${number} waiting`;
    case "dead-letters":
      return `${number} dead ${isOne ? "letter" : "letters"} to ${destination}`;
    case "rejected":
      return `${number} rejected ${isOne ? "delivery" : "deliveries"}`;
    case "secret-missing":
      return "A secret is missing";
    case "provider-silent":
      return "Deliveries have stopped";
    case "retrying":
      return `${number} ${isOne ? "delivery" : "deliveries"} to ${destination} failing`;
    default:
      // A newer server may know other kinds.
      return words(kind);
  }
}

function Origin({ of: { provider, firstSeenAt, lastSeenAt, kind } }: Of<Issue>) {
  return (
    <p class="under">
      {provider !== null && (
        <span class="origin">
          <Source of={provider} />
        </span>
      )}
      {kind === "provider-silent" && (
        <span>
          Last delivery <Time at={firstSeenAt} />
        </span>
      )}
      {kind !== "provider-silent" && kind !== "secret-missing" && (
        <span>
          First <Time at={firstSeenAt} />, last <Time at={lastSeenAt} />
        </span>
      )}
    </p>
  );
}

/** Links to where the issue is repaired, or to all that it counts. */
function Places({ of: { kind, provider, cause, count, destinationId } }: Of<Issue>) {
  if (destinationId !== null) {
    return <a href={writeRoute("destinations", destinationId)}>Destination</a>;
  }
  if (kind === "secret-missing") return <a href={writeRoute("providers", provider)}>Set up</a>;
  if (kind !== "rejected" || provider === null || count < 2) return null;
  const query = new URLSearchParams({ provider, reason: cause });
  return <a href={writeRoute("rejections", null, query)}>Show all</a>;
}

/** What a link to the latest delivery is called, by where it leads. */
function Latest({ of: { eventId, rejectionId, provider, kind } }: Of<Issue>) {
  if (rejectionId !== null) return <a href={writeRoute("rejections", rejectionId)}>Why?</a>;
  if (eventId !== null) return <a href={writeRoute("events", eventId)}>Latest event</a>;
  if (kind !== "provider-silent" || provider === null) return null;
  return <a href={writeRoute("events", null, new URLSearchParams({ provider }))}>Events</a>;
}

const replayed = { "dead-letters": "dead", retrying: "retrying" } as const;

/** Parses the events again first, unlike a retry, and lets the operator choose them. */
function ReplayLink({ of: { kind, provider } }: Of<Issue>) {
  if (kind !== "dead-letters" && kind !== "retrying") return null;
  const query = new URLSearchParams({ delivery: replayed[kind], ...(provider && { provider }) });
  return <a href={writeRoute("replays", "new", query)}>Replay…</a>;
}

/** How long an issue can be muted, in hours. */
const muteHours = [
  [1, "1 hour"],
  [8, "8 hours"],
  [24, "1 day"],
  [24 * 7, "7 days"],
] as const;

function Actions({ of: issue, reload }: { readonly of: Issue; readonly reload: () => void }) {
  const act = async (verb: "retry" | "mute" | "unmute", body?: object): Promise<void> => {
    await attempt(words(verb), async () => {
      const answer = await callApi<Partial<Retried>>(`${path}/${issue.id}/${verb}`, {
        method: "POST",
        body,
      });
      const retried = `${counted(answer.retried ?? 0, "delivery", "deliveries")} will be sent again`;
      notify(verb === "retry" ? retried : `${words(verb)}d`);
    });
    reload();
  };
  return (
    <div class="actions">
      <Places of={issue} />
      <Latest of={issue} />
      <ReplayLink of={issue} />
      {issue.mutedUntil !== null ? (
        <button type="button" onClick={() => void act("unmute")}>
          Unmute
        </button>
      ) : (
        <select
          aria-label="Mute until"
          value=""
          onChange={({ currentTarget }) => {
            const hours = Number(currentTarget.value);
            currentTarget.value = "";
            void act("mute", { until: new Date(Date.now() + hours * 3_600_000).toISOString() });
          }}
        >
          <option value="" disabled hidden>
            Mute
          </option>
          {muteHours.map(([hours, label]) => (
            <option key={hours} value={hours}>
              {label}
            </option>
          ))}
        </select>
      )}
      {issue.canRetry && (
        <button type="button" class="primary" onClick={() => void act("retry")}>
          Retry all
        </button>
      )}
    </div>
  );
}

interface Retried {
  readonly retried: number;
}
