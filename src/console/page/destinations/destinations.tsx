import { useState } from "preact/hooks";

import { milliseconds } from "../durations.ts";
import { SelectFilter } from "../filters.tsx";
import { ListHead, Split } from "../list-pane.tsx";
import { useInterval } from "../live.ts";
import { useLoad } from "../load.ts";
import { go, type Route, writeRoute } from "../route.ts";
import { Text } from "../text.tsx";
import { Time } from "../time.tsx";
import { Empty, ErrorMessage, Loading } from "../ui.tsx";
import type { DestinationDetail, DestinationSecret, Page } from "../wire.ts";

import { DestinationForm } from "./destination-form.tsx";
import { HealthBadge, Outcomes, percent, waitingText } from "./destination-health.tsx";
import { DestinationPane } from "./destination-pane.tsx";

const pollIntervalMs = 5_000;

interface Parts {
  readonly route: Route;
  /** Only admins may change destinations. The API enforces it; this only hides the controls. */
  readonly isAdmin: boolean;
}

/** The Destinations view: where notifications go, and how well. */
export function Destinations({ route, isAdmin }: Parts) {
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
      filters={
        isAdmin && (
          <form class="filters" onSubmit={(event) => event.preventDefault()}>
            <SelectFilter
              route={route}
              name="owner"
              label="Owner"
              all="Operators"
              options={["all"]}
              labelOf={() => "Operators and users"}
            />
            <a class="button primary" href={writeRoute("destinations", "new", query)}>
              New destination
            </a>
          </form>
        )
      }
      list={<List list={list} open={id} query={query} isAdmin={isAdmin} />}
      detail={
        id === null ? null : id === "new" && isAdmin ? (
          <DestinationForm close={close} created={show} />
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
    />
  );
}

interface ListParts {
  readonly list: ReturnType<typeof useLoad<Page<DestinationDetail>>>;
  readonly open: string | null;
  readonly query: URLSearchParams;
  readonly isAdmin: boolean;
}

function List({ list: { value, error, reload }, open, query, isAdmin }: ListParts) {
  return (
    <div class="list" data-list>
      {error !== null && <ErrorMessage error={error} retry={reload} />}
      {value === null && error === null && <Loading what="destinations" />}
      {value?.data.length === 0 && <NoDestinations isAdmin={isAdmin} />}
      {value !== null && value.data.length > 0 && (
        <ListHead
          of="destination"
          names={["Health", "Name", "Format", "Success", "Queue", "Last attempt"]}
        />
      )}
      {value !== null && value.data.length > 0 && (
        <ul class="rows">
          {value.data.map((destination) => (
            <li key={destination.id}>
              <Row
                destination={destination}
                href={writeRoute("destinations", destination.id, query)}
                isOpen={destination.id === open}
              />
            </li>
          ))}
        </ul>
      )}
      {value?.pagination.hasMore === true && (
        <div class="end">
          <span class="quiet">Showing the newest 100.</span>
        </div>
      )}
    </div>
  );
}

interface RowParts {
  readonly destination: DestinationDetail;
  readonly href: string;
  readonly isOpen: boolean;
}

function Row({ destination, href, isOpen }: RowParts) {
  const { name, format, ownerId, health } = destination;
  const { successRate, p50Ms, lastAttemptAt } = health;
  return (
    <a class="row destination" href={href} data-row aria-current={isOpen ? "true" : undefined}>
      <span class="cell title">
        <Text of={name} />
      </span>
      <span class="cell status">
        <HealthBadge of={destination} />
      </span>
      <span class="cell kind">
        {format}
        {ownerId !== null && ", of a user"}
      </span>
      <span class="cell rate">
        <Outcomes of={health} />
        {successRate !== null && ` ${percent(successRate)}`}
        {p50Ms !== null && <span class="quiet"> · {milliseconds(p50Ms)}</span>}
      </span>
      <span class="cell queue">{waitingText(health)}</span>
      <span class="cell time">
        {lastAttemptAt === null ? "Not used yet" : <Time at={lastAttemptAt} />}
      </span>
    </a>
  );
}

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
