import { ActionButton } from "../kit/action.tsx";
import { callApi } from "../kit/api.ts";
import { span } from "../kit/durations.ts";
import { Attempts } from "../kit/event/notification.tsx";
import { useLoad } from "../kit/load.ts";
import { writeRoute } from "../kit/route.ts";
import { isAdmin } from "../kit/session.ts";
import { counted, type Of, Text } from "../kit/text.tsx";
import { DueTime, Time } from "../kit/time.tsx";
import { Empty, ErrorMessage, notify, Status } from "../kit/ui.tsx";
import type { DeliveryItem, Page } from "../kit/wire.ts";

const shown = 20;

/** The newest deliveries of a destination, and the newest dead ones. */
export function useDeliveries(path: string) {
  const query = `deliveries?include=attempts&limit=${shown}`;
  const newest = useLoad<Page<DeliveryItem>>(`${path}/${query}`);
  const dead = useLoad<Page<DeliveryItem>>(`${path}/${query}&status=dead`);
  return {
    newest,
    dead,
    reload() {
      newest.reload();
      dead.reload();
    },
  };
}

type Deliveries = ReturnType<typeof useDeliveries>;

export function LastDeliveries({ of: { newest } }: Of<Deliveries>) {
  const { value, error, reload } = newest;
  return (
    <section aria-labelledby="last-deliveries">
      <h3 id="last-deliveries">Last deliveries</h3>
      {error !== null && <ErrorMessage error={error} retry={reload} />}
      {value?.data.length === 0 && (
        <Empty title="No deliveries yet">
          <p>Notifications that match the filter appear here. A test is not stored.</p>
        </Empty>
      )}
      {value !== null && <Lines deliveries={value.data} />}
      {value?.pagination.hasMore === true && <p class="quiet">Showing the newest {shown}.</p>}
    </section>
  );
}

interface Retried {
  readonly retried: number;
}

interface DeadParts {
  readonly of: Deliveries;
  /** The destination in the API. */
  readonly path: string;
  readonly retried: () => void;
}

/** The dead letters of a destination. Renders nothing if it has none. */
export function DeadDeliveries({ of: { dead }, path, retried }: DeadParts) {
  const { value } = dead;
  if (value === null || value.data.length === 0) return null;

  async function retry(): Promise<void> {
    try {
      const answer = await callApi<Retried>(`${path}/retry`, { method: "POST" });
      notify(`${counted(answer.retried, "delivery", "deliveries")} will be sent again`);
    } finally {
      retried();
    }
  }

  return (
    <section aria-labelledby="dead-deliveries">
      <header class="panel-bar">
        <h3 id="dead-deliveries">Dead letters</h3>
        {isAdmin() && <ActionButton label="Retry all" busy="Retrying…" name="Retry" act={retry} />}
      </header>
      <Lines deliveries={value.data} />
      {value.pagination.hasMore && <p class="quiet">Showing the newest {shown}.</p>}
    </section>
  );
}

function Lines({ deliveries }: { readonly deliveries: readonly DeliveryItem[] }) {
  return (
    <ul class="lines">
      {deliveries.map((delivery) => (
        <li key={delivery.id}>
          <Status of={delivery.status} />
          <a href={writeRoute("events", delivery.eventId)}>
            <Text of={delivery.title} />
          </a>
          <span class="quiet">
            <Time at={delivery.createdAt} />
            <Outcome of={delivery} />
          </span>
          {delivery.attempts.length > 0 && (
            <details>
              <summary class="quiet">{counted(delivery.attempts.length, "attempt")}</summary>
              <Attempts of={delivery} />
            </details>
          )}
        </li>
      ))}
    </ul>
  );
}

function Outcome({ of: { deliveredAt, createdAt, dueAt, lastError } }: Of<DeliveryItem>) {
  if (deliveredAt !== null) {
    const ms = Date.parse(deliveredAt) - Date.parse(createdAt);
    return <>, delivered after {ms < 1_000 ? `${Math.max(0, ms)}\u00a0ms` : span(ms / 1_000)}</>;
  }
  return (
    <>
      {dueAt !== null && (
        <>
          , next attempt <DueTime at={dueAt} />
        </>
      )}
      {lastError !== null && (
        <>
          : <Text of={lastError} />
        </>
      )}
    </>
  );
}
