import { attempt } from "../kit/action.tsx";
import { callApi } from "../kit/api.ts";
import { commandOf } from "../kit/given.ts";
import { Page } from "../kit/layout.tsx";
import { useInterval } from "../kit/live.ts";
import { useLoad } from "../kit/load.ts";
import { useName } from "../kit/names.ts";
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
      <pre>{commandOf("send code_host workflow_run.completed")}</pre>
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
      {[...Map.groupBy(issues, findingOf).values()].map((same) => (
        <Card key={same[0]?.id} issues={same} reload={reload} />
      ))}
    </ul>
  );
}

/** The same at several providers is one finding. */
const findingOf = ({ kind, cause, destinationId }: Issue): string =>
  JSON.stringify([kind, cause, destinationId]);

function Card({ issues, reload }: CardsParts) {
  const [first] = issues;
  if (first === undefined) return null;
  const count = issues.reduce((sum, each) => sum + each.count, 0);
  const hasMore = issues.some((each) => each.hasMore);
  return (
    <li class="issue panel">
      <header>
        <Glyph of={first} />
        <h2>
          <Title of={{ ...first, count, hasMore }} />
        </h2>
        <Badge tone="quiet">
          <Text of={words(first.cause)} />
        </Badge>
      </header>
      <p>{first.advice}</p>
      {issues.map((issue) => (
        <footer key={issue.id}>
          <Origin of={issue} isOne={issues.length > 1} />
          <Actions of={issue} reload={reload} />
        </footer>
      ))}
    </li>
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

const countOf = ({ count, hasMore }: Pick<Issue, "count" | "hasMore">): string =>
  `${count.toLocaleString("en")}${hasMore ? "+" : ""}`;

/** What is wrong, with a link to the destination. */
function Title({ of: issue }: Of<Issue>) {
  const { destination, destinationId } = issue;
  const [before, after] = titleOf(issue).split("→");
  return (
    <>
      {before}
      {after !== undefined && (
        <a href={writeRoute("destinations", destinationId)}>
          <Text of={destination ?? ""} />
        </a>
      )}
      {after}
    </>
  );
}

/** `→` stands for the destination. */
function titleOf(issue: Issue): string {
  const number = countOf(issue);
  const isOne = issue.count === 1;
  switch (issue.kind) {
    case "circuit-open":
      return `Sending to → is suspended, ${number} waiting`;
    case "dead-letters":
      return `${number} dead ${isOne ? "letter" : "letters"} to →`;
    case "rejected":
      return `${number} rejected ${isOne ? "delivery" : "deliveries"}`;
    case "secret-missing":
      return "A secret is missing";
    case "provider-silent":
      return "Deliveries have stopped";
    case "retrying":
      return `${number} ${isOne ? "delivery" : "deliveries"} to → failing`;
    default:
      // A newer server may know other kinds.
      return words(issue.kind);
  }
}

interface OriginParts extends Of<Issue> {
  /** Whether the title counts others too. */
  readonly isOne: boolean;
}

function Origin({ of: issue, isOne }: OriginParts) {
  const { provider, firstSeenAt, lastSeenAt, kind, count } = issue;
  return (
    <p class="under">
      {provider !== null && (
        <span class="origin">
          <Source of={provider} />
        </span>
      )}
      {isOne && count > 0 && <span>{countOf(issue)}</span>}
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

const replayed: ReadonlyMap<string, string> = new Map([
  ["dead-letters", "dead"],
  ["retrying", "retrying"],
]);

type Place = readonly [label: string, address: string];

/** Where an issue is explained and repaired, and all that it counts. */
function placesOf(issue: Issue): readonly Place[] {
  const { kind, provider, cause, count, eventId, rejectionId } = issue;
  const ofProvider = provider === null ? {} : { provider };
  const delivery = replayed.get(kind);
  const places: (Place | false)[] = [
    rejectionId !== null && ["Why?", writeRoute("rejections", rejectionId)],
    rejectionId !== null &&
      count > 1 && [
        "Show all",
        writeRoute("rejections", null, new URLSearchParams({ ...ofProvider, reason: cause })),
      ],
    kind === "secret-missing" && ["Set up", writeRoute("providers", provider)],
    kind === "provider-silent" && [
      "Events",
      writeRoute("events", null, new URLSearchParams(ofProvider)),
    ],
    eventId !== null && ["Latest event", writeRoute("events", eventId)],
    // Parses the events again first, unlike a retry, and lets the operator choose them.
    delivery !== undefined && [
      "Replay…",
      writeRoute("replays", "new", new URLSearchParams({ delivery, ...ofProvider })),
    ],
  ];
  return places.filter((place) => place !== false);
}

const muteHours = 24;

function Actions({ of: issue, reload }: { readonly of: Issue; readonly reload: () => void }) {
  const { provider, destination, cause } = issue;
  const name = useName(provider ?? "");
  // Several issues have actions with the same label.
  const of = [provider === null ? null : name, destination, words(cause)]
    .filter(Boolean)
    .join(", ");
  const act = async (verb: "retry" | "mute" | "unmute", body?: object): Promise<void> => {
    await attempt(words(verb), async () => {
      const answer = await callApi<Partial<Retried>>(`${path}/${issue.id}/${verb}`, {
        method: "POST",
        body,
      });
      const retried = `${counted(answer.retried ?? 0, "delivery", "deliveries")} will be sent again`;
      const muted = verb === "mute" ? `Muted for ${muteHours} hours` : "Unmuted";
      notify(verb === "retry" ? retried : muted);
    });
    reload();
  };
  const mute = () =>
    act("mute", { until: new Date(Date.now() + muteHours * 3_600_000).toISOString() });
  const [label, change] =
    issue.mutedUntil === null
      ? (["Mute", mute] as const)
      : (["Unmute", () => act("unmute")] as const);
  return (
    <div class="actions">
      {placesOf(issue).map(([text, address]) => (
        <a key={text} class="button" href={address} aria-label={`${text} ${of}`}>
          {text}
        </a>
      ))}
      <button
        type="button"
        title={label === "Mute" ? `Hide for ${muteHours} hours` : ""}
        aria-label={`${label} ${of}`}
        onClick={() => void change()}
      >
        {label}
      </button>
      {issue.canRetry && (
        <button
          type="button"
          class="primary"
          aria-label={`Retry all ${of}`}
          onClick={() => void act("retry")}
        >
          Retry all
        </button>
      )}
    </div>
  );
}

interface Retried {
  readonly retried: number;
}
