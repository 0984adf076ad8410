import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import { formatInfo } from "../../../outbound/formats/formats.ts";
import { History } from "../kit/actor.tsx";
import { SecretOnce, takeSecret } from "../kit/copy.tsx";
import { milliseconds, span } from "../kit/durations.ts";
import { Detail, LoadedDetail } from "../kit/layout.tsx";
import { useInterval, useNews } from "../kit/live.ts";
import { useLoad } from "../kit/load.ts";
import { isAdmin } from "../kit/session.ts";
import { counted, Mono, Text } from "../kit/text.tsx";
import { DueTime, ExactTime } from "../kit/time.tsx";
import { Badge, Facts, Stat } from "../kit/ui.tsx";
import type { DestinationDetail } from "../kit/wire.ts";

import { Actions } from "./destination-actions.tsx";
import { DeadDeliveries, LastDeliveries, useDeliveries } from "./destination-deliveries.tsx";
import { DestinationEdit } from "./destination-edit.tsx";
import { countText, HealthBadge, Outcomes, percent } from "./destination-health.tsx";
import { DestinationLatency } from "./destination-latency.tsx";

const pollIntervalMs = 5_000;
/** Used while deliveries wait. */
const waitingPollIntervalMs = 1_500;

interface Parts {
  readonly id: string;
  readonly close: string;
  /** Called after a change, so that the list loads again. */
  readonly changed: () => void;
}

/** A destination: its health, what it receives, its last deliveries. */
export function DestinationPane({ id, close, changed }: Parts) {
  const path = `v1/destinations/${encodeURIComponent(id)}`;
  const loaded = useLoad<DestinationDetail>(`${path}?include=health`);
  const deliveries = useDeliveries(path);
  const refresh = () => {
    loaded.reload();
    deliveries.reload();
  };
  useNews(refresh);
  const isWaiting = (loaded.value?.health.waiting ?? 0) > 0;
  useInterval(refresh, isWaiting ? waitingPollIntervalMs : pollIntervalMs);
  const acted = () => {
    refresh();
    changed();
  };

  const [secret, setSecret] = useState(() => takeSecret(id));
  const [isEdited, setIsEdited] = useState(false);
  if (isEdited && loaded.value !== null) {
    return (
      <Detail label={`Edit ${loaded.value.name}`} close={close}>
        <DestinationEdit
          destination={loaded.value}
          path={path}
          done={() => {
            setIsEdited(false);
            acted();
          }}
        />
      </Detail>
    );
  }

  return (
    <LoadedDetail label="Destination" close={close} of={loaded}>
      {(destination) => (
        <article class="destination">
          <header>
            <h2>
              <Text of={destination.name} />
            </h2>
            <p class="under">
              <HealthBadge of={destination} />
              {destination.alerts && <Badge tone="info">Alerts</Badge>}
              <span>{formatInfo(destination.format)?.label ?? destination.format}</span>
              <Mono of={destination.url || "No URL"} />
            </p>
            <History of={destination.id} version={destination.updatedAt} />
            {isAdmin() && (
              <Actions
                destination={destination}
                close={close}
                acted={acted}
                rotated={(made) => setSecret(made.secret)}
                edit={() => setIsEdited(true)}
              />
            )}
          </header>
          {secret !== null && (
            <SecretOnce
              title="Signing secret"
              secret={secret}
              advice="Store it at the receiver now. It cannot be shown again, only replaced by a new one."
            >
              <button type="button" onClick={() => setSecret(null)}>
                I have stored it
              </button>
            </SecretOnce>
          )}
          <Trouble destination={destination} />
          <HealthStats health={destination.health} />
          <DestinationLatency key={path} path={path} />
          <Settings destination={destination} />
          <DeadDeliveries of={deliveries} to={destination} path={path} retried={acted} />
          <LastDeliveries of={deliveries} to={destination} />
        </article>
      )}
    </LoadedDetail>
  );
}

/** What is wrong, and what to do. */
function Trouble({ destination }: { readonly destination: DestinationDetail }) {
  const found = troubleOf(destination);
  if (found === null) return null;
  const [title, advice] = found;
  return (
    <div class="explanation unknown">
      <h3>{title}</h3>
      <p>{advice}</p>
      {!isAdmin() && <p class="quiet">Only admins can change destinations.</p>}
    </div>
  );
}

function troubleOf(destination: DestinationDetail): readonly [string, ComponentChildren] | null {
  const { state, health, failures, openUntil } = destination;
  if (state === "disabled") {
    return ["Disabled", "No deliveries are stored. Resume it to receive new notifications."];
  }
  if (state === "paused") {
    return ["Paused", "Deliveries are kept. Resume it to send them in order."];
  }
  const reason = health.lastError !== null && <Text of={health.lastError} />;
  if (health.circuit === "open" && openUntil !== null) {
    return [
      "Sending is suspended",
      <>
        {counted(failures, "failure")} in a row. A successful test ends it. Next attempt{" "}
        <DueTime at={openUntil} />. Last error: {reason}
      </>,
    ];
  }
  if (health.lastError !== null) {
    return ["The last attempt failed", <>{reason}. Failed deliveries are tried again.</>];
  }
  return null;
}

function HealthStats({ health }: { readonly health: DestinationDetail["health"] }) {
  const { successRate, outcomes, p50Ms, p95Ms, waiting, oldestSeconds, dead } = health;
  return (
    <dl class="stats inner">
      <Stat
        name="Success rate"
        value={successRate === null ? "–" : percent(successRate)}
        more={
          outcomes.length === 0 ? (
            "No attempts yet"
          ) : (
            <>
              <Outcomes of={health} /> of the last {counted(outcomes.length, "attempt")}
            </>
          )
        }
        tone={successRate !== null && successRate < 0.9 ? "warn" : undefined}
      />
      <Stat
        name="Response time"
        value={p50Ms === null ? "–" : milliseconds(p50Ms)}
        more={p95Ms === null ? "No successful deliveries" : `Median · p95 ${milliseconds(p95Ms)}`}
      />
      <Stat
        name="Waiting"
        value={countText(waiting)}
        more={oldestSeconds === null ? "Queue empty" : `Oldest ${span(oldestSeconds)}`}
      />
      <Stat
        name="Dead letters"
        value={countText(dead)}
        more={dead === 0 ? "No dead letters" : "Delivery failed; see below"}
        tone={dead > 0 ? "bad" : undefined}
      />
    </dl>
  );
}

function Settings({ destination }: { readonly destination: DestinationDetail }) {
  const { filter, orderBy, ratePerSecond, maxConcurrent, ownerId, createdAt } = destination;
  return (
    <Facts
      of={[
        [
          "Filter",
          filter === null ? (
            "None: receives all events"
          ) : (
            <code>
              <Text of={filter} />
            </code>
          ),
        ],
        ["Order", orderBy === null ? null : <code>{orderBy}</code>],
        [
          "Limits",
          `${ratePerSecond === null ? "" : `${ratePerSecond} per second, `}${maxConcurrent} at a time`,
        ],
        ["Owner", ownerId === null ? null : <Mono of={ownerId} />],
        ["Created", <ExactTime at={createdAt} />],
      ]}
    />
  );
}
