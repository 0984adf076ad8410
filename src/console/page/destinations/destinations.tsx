import { useState } from "preact/hooks";

import { formatInfo } from "../../../outbound/formats/formats.ts";
import { AdminsOnly } from "../admins-only.tsx";
import { milliseconds } from "../durations.ts";
import { Controls, SelectFilter } from "../filters.tsx";
import { Detail, Split } from "../layout.tsx";
import { useInterval } from "../live.ts";
import { useLoad } from "../load.ts";
import { go, writeRoute } from "../route.ts";
import type { Rows } from "../rows.tsx";
import { ShortList } from "../short-list.tsx";
import { Time } from "../time.tsx";
import { Empty } from "../ui.tsx";
import type { ViewParts } from "../views.ts";
import type { DestinationDetail, DestinationSecret, Page } from "../wire.ts";

import { DestinationForm } from "./destination-form.tsx";
import { HealthBadge, Outcomes, percent, waitingText } from "./destination-health.tsx";
import { DestinationPane } from "./destination-pane.tsx";
import { inWords } from "./filter-choices.ts";

const pollIntervalMs = 5_000;

/** The Destinations view: where notifications go, and how well. */
export function Destinations({ route, isAdmin }: ViewParts) {
  const { id, query } = route;
  const owner = query.get("owner") === "all" ? "" : "&owner=operators";
  const list = useLoad<Page<DestinationDetail>>(
    `v1/destinations?include=health&limit=100${owner}`,
    { keep: true },
  );
  useInterval(list.reload, pollIntervalMs);
  /** Shown once, in the pane of its destination. */
  const [secret, setSecret] = useState<DestinationSecret | null>(null);
  const close = writeRoute("destinations", null, query);
  const shown = secret !== null && secret.id === id ? secret.secret : null;

  function show(made: DestinationSecret): void {
    setSecret(made);
    list.reload();
    go("destinations", made.id, query);
  }

  return (
    <Split
      title="Destinations"
      list={
        <ShortList
          of={rows}
          list={list}
          open={id}
          query={query}
          empty={<NoDestinations isAdmin={isAdmin} />}
        />
      }
      detail={
        id === null ? null : id === "new" ? (
          isAdmin ? (
            <DestinationForm close={close} created={show} />
          ) : (
            <Detail label="New destination" close={close}>
              <AdminsOnly />
            </Detail>
          )
        ) : (
          <DestinationPane
            key={id}
            id={id}
            close={close}
            isAdmin={isAdmin}
            secret={shown}
            hideSecret={() => setSecret(null)}
            rotated={show}
            changed={list.reload}
          />
        )
      }
    >
      {isAdmin && (
        <>
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
          <a class="button primary" href={writeRoute("destinations", "new", query)}>
            New destination
          </a>
        </>
      )}
    </Split>
  );
}

const rows: Rows<DestinationDetail> = {
  what: ["destination", "destinations"],
  columns: [
    { head: "Health", at: "outcome", width: "116px", cell: (it) => <HealthBadge of={it} /> },
    { head: "Name", at: "title", width: "minmax(0, 2fr)", cell: ({ name }) => name },
    {
      head: "Sends to",
      at: "kind",
      width: "minmax(0, 3fr)",
      cell: ({ format, address, ownerId }) => (
        <>
          {hostIn(address)}
          <span class="quiet"> · {formatInfo(format)?.label ?? format}</span>
          {ownerId !== null && ", of a user"}
        </>
      ),
      tip: ({ address }) => address,
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
      width: "136px",
      cell: ({ health }) => waitingText(health),
      tip: ({ health }) => waitingText(health),
    },
    {
      head: "Last error",
      at: "problem",
      width: "minmax(0, 2fr)",
      isWideOnly: true,
      cell: ({ health }) => health.lastError ?? "",
      tip: ({ health }) => health.lastError,
    },
    {
      head: "Last attempt",
      at: "time",
      width: "84px",
      cell: ({ health: { lastAttemptAt } }) =>
        lastAttemptAt === null ? "Not used yet" : <Time at={lastAttemptAt} />,
    },
  ],
  narrow: `"title outcome" "kind time" "rate queue" / minmax(0, 1fr) auto`,
  address: ({ id }, query) => writeRoute("destinations", id, query),
};

/** The API shows the rest of an address as `…`, because it may hold a secret. */
const hostIn = (address: string): string => URL.parse(address)?.host ?? "No address";

function NoDestinations({ isAdmin }: { readonly isAdmin: boolean }) {
  return (
    <Empty title="No destinations yet">
      <p>
        A destination sends the notifications that match its filter to Slack, PagerDuty, e-mail or
        your own service.
      </p>
      {isAdmin ? (
        <p>
          <a href={writeRoute("destinations", "new")}>Create the first destination</a>, or run:
        </p>
      ) : (
        <p>An admin can create one here, or run:</p>
      )}
      <pre>skyhook destination add --help</pre>
    </Empty>
  );
}
