import { ActionButton } from "../kit/action.tsx";
import { callApi } from "../kit/api.ts";
import { DeliveryLine } from "../kit/event/notification.tsx";
import { useLoad } from "../kit/load.ts";
import { writeRoute } from "../kit/route.ts";
import { isAdmin } from "../kit/session.ts";
import { counted, type Of } from "../kit/text.tsx";
import { Time } from "../kit/time.tsx";
import { Empty, ErrorMessage, notify } from "../kit/ui.tsx";
import type { DeliveryItem, Destination, Page } from "../kit/wire.ts";

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

interface To {
  readonly to: Destination;
}

export function LastDeliveries({ of: { newest }, to }: Of<Deliveries> & To) {
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
      {value !== null && <Lines deliveries={value.data} to={to} />}
      {value?.pagination.hasMore === true && <p class="quiet">Showing the newest {shown}.</p>}
    </section>
  );
}

interface Retried {
  readonly retried: number;
}

interface RetryParts {
  readonly label?: string;
  /** The destination in the API. */
  readonly path: string;
  readonly retried: () => void;
}

/** For admins: sends all dead deliveries of a destination again. */
export function RetryAll({ path, retried, label = "Retry all" }: RetryParts) {
  if (!isAdmin()) return null;
  const retry = async () => {
    try {
      const answer = await callApi<Retried>(`${path}/retry`, { method: "POST" });
      notify(`${counted(answer.retried, "delivery", "deliveries")} will be sent again`);
    } finally {
      retried();
    }
  };
  return <ActionButton label={label} busy="Retrying…" name="Retry" act={retry} />;
}

interface DeadParts extends RetryParts, To {
  readonly of: Deliveries;
}

/** The dead letters of a destination. Renders nothing if it has none. */
export function DeadDeliveries({ of: { dead }, to, ...parts }: DeadParts) {
  const { value } = dead;
  if (value === null || value.data.length === 0) return null;
  return (
    <section aria-labelledby="dead-deliveries">
      <header class="panel-bar">
        <h3 id="dead-deliveries">Dead letters</h3>
        <RetryAll {...parts} />
      </header>
      <Lines deliveries={value.data} to={to} />
      {value.pagination.hasMore && <p class="quiet">Showing the newest {shown}.</p>}
    </section>
  );
}

function Lines({ deliveries, to }: { readonly deliveries: readonly DeliveryItem[] } & To) {
  return (
    <ul class="lines">
      {deliveries.map((delivery) => (
        <DeliveryLine
          key={delivery.id}
          of={delivery}
          to={to}
          href={writeRoute("events", delivery.eventId)}
          name={delivery.title}
        >
          <Time at={delivery.createdAt} />,
        </DeliveryLine>
      ))}
    </ul>
  );
}
