import type { ComponentChildren } from "preact";

import { lastDelivery, milliseconds, span } from "../durations.ts";
import { Replay } from "../replays/replay.tsx";
import { writeRoute } from "../route.ts";
import { counted, type Of, Text } from "../text.tsx";
import { Time } from "../time.tsx";
import { Badge, Empty, Source, Status } from "../ui.tsx";
import type { Health, NotificationItem, Page, Provider } from "../wire.ts";

const databaseNames = { sqlite: "SQLite", postgres: "PostgreSQL" } as const;

/** The key figures. */
export function Figures({ health }: { readonly health: Health }) {
  const { acknowledgements, outbox } = health;
  const { p50Ms, p95Ms, p99Ms, count, windowSeconds } = acknowledgements;
  const [median = "", p95, p99] = [p50Ms, p95Ms, p99Ms].map((ms) =>
    ms === null ? "–" : milliseconds(ms),
  );
  const queued = outbox.pending + outbox.retrying;
  return (
    <dl class="figures">
      <Figure
        name="Acknowledgement time"
        value={median}
        more={
          p50Ms === null
            ? `No deliveries in the last ${span(windowSeconds)}`
            : `Median · p95 ${p95} · p99 ${p99}`
        }
      />
      <Figure
        name="Deliveries"
        value={count.toLocaleString("en")}
        more={`Acknowledged in the last ${span(windowSeconds)}`}
      />
      <Figure
        name="Outbox"
        value={queued.toLocaleString("en")}
        more={
          outbox.oldestSeconds === null
            ? "Queue empty"
            : `${outbox.retrying.toLocaleString("en")} retrying · oldest ${span(outbox.oldestSeconds)}`
        }
        tone={outbox.retrying > 0 ? "warn" : undefined}
      />
      <Figure
        name="Dead letters"
        value={outbox.dead.toLocaleString("en")}
        more={outbox.dead === 0 ? "No dead letters" : "Delivery failed; see below"}
        tone={outbox.dead > 0 ? "bad" : undefined}
      />
      <Figure
        name="Uptime"
        value={span(health.uptimeSeconds)}
        more={`Skyhook ${health.version}, ${databaseNames[health.database]}`}
      />
    </dl>
  );
}

interface FigureParts {
  readonly name: string;
  readonly value: string;
  readonly more: ComponentChildren;
  readonly tone?: "warn" | "bad" | undefined;
}

export function Figure({ name, value, more, tone }: FigureParts) {
  return (
    <div class={`figure ${tone ?? ""}`}>
      <dt>{name}</dt>
      <dd>
        <span class="value">{value}</span>
        <span class="quiet">{more}</span>
      </dd>
    </div>
  );
}

/** Each provider's last delivery, compared with its usual interval. */
export function ProviderActivity({ providers }: { readonly providers: readonly Provider[] }) {
  return (
    <section class="panel" aria-labelledby="activity">
      <h2 id="activity">Provider activity</h2>
      <ul class="lines">
        {providers.map((provider) => (
          <li key={provider.provider}>
            <ActivityBadge of={provider} />
            <Source of={provider.provider} />
            <span class="quiet">{lastDelivery(provider, Date.now())}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function ActivityBadge({
  of: { isSilent, silentForSeconds },
}: Of<Pick<Provider, "isSilent" | "silentForSeconds">>) {
  if (isSilent) return <Badge tone="bad">Silent</Badge>;
  if (silentForSeconds === null) return <Badge tone="quiet">No deliveries</Badge>;
  return <Badge tone="good">Active</Badge>;
}

export const deadLetters = "v1/notifications?status=dead&limit=20";
export type DeadLetterPage = Page<NotificationItem>;

interface DeadLettersParts {
  readonly page: DeadLetterPage;
  readonly reload: () => void;
}

/** Notifications that the operator gateway never accepted. A replay sends them again. */
export function DeadLetters({ page: { data, pagination }, reload }: DeadLettersParts) {
  return (
    <section class="panel" aria-labelledby="dead">
      <h2 id="dead">Dead letters</h2>
      {data.length === 0 && (
        <Empty title="No dead letters">
          <p>Notifications that still fail after about seven hours appear here.</p>
        </Empty>
      )}
      {data.length > 0 && (
        <ul class="lines">
          {data.map((dead) => (
            <li key={dead.id}>
              <Status of={dead.status} />
              <a href={writeRoute("events", dead.eventId)}>
                <Text of={dead.title} />
              </a>
              <span class="quiet">
                <Time at={dead.createdAt} />, {counted(dead.attemptCount, "attempt")}
                {dead.lastError !== null && ": "}
                {dead.lastError !== null && <Text of={dead.lastError} />}
              </span>
              <Replay
                id={dead.eventId}
                consequence="Only what failed will be sent again."
                replayed={reload}
              />
            </li>
          ))}
        </ul>
      )}
      {pagination.hasMore && <p class="quiet">Showing the newest 20.</p>}
    </section>
  );
}
