import { formatInfo } from "../../../outbound/formats/formats.ts";
import { Maker, MakersOf } from "../kit/actor.tsx";
import { milliseconds } from "../kit/durations.ts";
import { commandOf } from "../kit/given.ts";
import { Controls, SelectFilter } from "../kit/list/filters.tsx";
import { listView } from "../kit/list/list-view.tsx";
import { writeRoute } from "../kit/route.ts";
import { isAdmin } from "../kit/session.ts";
import { Time } from "../kit/time.tsx";
import { Empty } from "../kit/ui.tsx";
import type { ViewParts } from "../kit/views.ts";
import type { DestinationDetail } from "../kit/wire.ts";

import { RetryAll } from "./destination-deliveries.tsx";
import { DestinationForm } from "./destination-form.tsx";
import { HealthBadge, Outcomes, percent, waitingText } from "./destination-health.tsx";
import { DestinationPane } from "./destination-pane.tsx";
import { inWords } from "./filter-choices.ts";

/** The Destinations view: where notifications go, and how well. */
export function Destinations(parts: ViewParts) {
  return (
    <MakersOf by="destination.created">
      <List {...parts} />
    </MakersOf>
  );
}

const List = listView<DestinationDetail>({
  view: "destinations",
  what: ["destination", "destinations"],
  path: (query) =>
    `v1/destinations?include=health${query.get("owner") === "all" ? "" : "&owner=operators"}`,
  isFirst: ({ health: { circuit, lastError, dead } }) =>
    circuit !== "closed" || lastError !== null || dead > 0,
  pollIntervalMs: 5_000,
  columns: [
    { head: "Health", at: "outcome", width: "116px", cell: (it) => <HealthBadge of={it} /> },
    { head: "Name", at: "title", width: "minmax(0, 2fr)", cell: ({ name }) => name },
    {
      head: "Sends to",
      at: "kind",
      width: "minmax(0, 3fr)",
      cell: ({ format, url, ownerId }) => (
        <>
          {hostIn(url)}
          <span class="quiet"> · {formatInfo(format)?.label ?? format}</span>
          {ownerId !== null && ", of a user"}
        </>
      ),
      tip: ({ url }) => url,
    },
    {
      head: "Filter",
      at: "filter",
      width: "minmax(0, 3fr)",
      isWideOnly: true,
      cell: ({ filter }) => (filter === null ? "All events" : inWords(filter)),
      tip: ({ filter }) => filter,
    },
    {
      head: "Success",
      at: "rate",
      width: "176px",
      cell: ({ health }) => (
        <>
          <Outcomes of={health} />
          {health.successRate !== null && ` ${percent(health.successRate)}`}
          {health.p50Ms !== null && <span class="quiet"> · {milliseconds(health.p50Ms)}</span>}
        </>
      ),
    },
    {
      head: "Queue",
      at: "queue",
      width: "minmax(136px, 2fr)",
      cell: ({ health }) => queueText(health),
      tip: ({ health }) => queueText(health),
    },
    {
      head: "Created by",
      at: "by",
      width: "minmax(0, 2fr)",
      isWideOnly: true,
      cell: ({ id }) => <Maker of={id} />,
    },
    {
      head: "Last attempt",
      at: "time",
      width: "84px",
      cell: ({ health: { lastAttemptAt } }) =>
        lastAttemptAt === null ? "Not used yet" : <Time at={lastAttemptAt} />,
    },
    // The place of the button beside the row.
    { head: "", at: "act", width: "76px", isWideOnly: true, cell: () => null },
  ],
  beside: ({ id, health: { dead } }, changed) =>
    dead > 0 && (
      <RetryAll
        label="Retry"
        path={`v1/destinations/${encodeURIComponent(id)}`}
        retried={changed}
      />
    ),
  narrow: `"title outcome" "kind time" "rate queue" / minmax(0, 1fr) auto`,
  filters: ({ route }) => isAdmin() && <Owner route={route} />,
  action: (query) =>
    isAdmin() && (
      <a class="button primary" href={writeRoute("destinations", "new", query)}>
        New destination
      </a>
    ),
  empty: <NoDestinations />,
  detail: ({ id, ...parts }) =>
    id === "new" ? <DestinationForm {...parts} /> : <DestinationPane key={id} id={id} {...parts} />,
});

function Owner({ route }: ViewParts) {
  return (
    <Controls>
      <SelectFilter
        route={route}
        name="owner"
        label="Owner"
        all="Operators"
        options={["all"]}
        labelOf={() => "Operators and users"}
      />
    </Controls>
  );
}

function queueText(health: DestinationDetail["health"]): string {
  const text = waitingText(health);
  return health.lastError === null ? text : `${text} · ${health.lastError}`;
}

/** The API shows the rest of a URL as `…`, because it may hold a secret. */
const hostIn = (url: string): string => URL.parse(url)?.host ?? "No URL";

function NoDestinations() {
  return (
    <Empty title="No destinations yet">
      <p>
        A destination sends the notifications that match its filter to Slack, PagerDuty, e-mail or
        your own service.
      </p>
      {isAdmin() ? (
        <p>
          <a href={writeRoute("destinations", "new")}>Create the first destination</a>, or run:
        </p>
      ) : (
        <p>An admin can create one here, or run:</p>
      )}
      <pre>{commandOf("destination add --help")}</pre>
    </Empty>
  );
}
