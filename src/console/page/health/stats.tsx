import { milliseconds, span } from "../kit/durations.ts";
import { writeRoute } from "../kit/route.ts";
import { Stat } from "../kit/ui.tsx";
import type { Health } from "../kit/wire.ts";

const databaseNames = { sqlite: "SQLite", postgres: "PostgreSQL" } as const;

const eventsThatAre = (delivery: string): string =>
  writeRoute("events", null, new URLSearchParams({ delivery }));

/** The key figures. */
export function Stats({ health }: { readonly health: Health }) {
  const { acknowledgements, outbox } = health;
  const { p50Ms, p95Ms, p99Ms, count, windowSeconds } = acknowledgements;
  const [median = "", p95, p99] = [p50Ms, p95Ms, p99Ms].map((ms) =>
    ms === null ? "–" : milliseconds(ms),
  );
  const queued = outbox.pending + outbox.retrying;
  return (
    <dl class="stats">
      <Stat
        name="Acknowledgement time"
        value={median}
        more={
          p50Ms === null
            ? `No deliveries in the last ${span(windowSeconds)}`
            : `Median · p95 ${p95} · p99 ${p99}`
        }
      />
      <Stat
        name="Deliveries"
        value={count.toLocaleString("en")}
        more={`Acknowledged in the last ${span(windowSeconds)}`}
        href={writeRoute("events")}
      />
      <Stat
        name="Outbox"
        value={queued.toLocaleString("en")}
        more={
          outbox.oldestSeconds === null
            ? "Queue empty"
            : `${outbox.retrying.toLocaleString("en")} retrying · oldest ${span(outbox.oldestSeconds)}`
        }
        tone={outbox.retrying > 0 ? "warn" : undefined}
        href={eventsThatAre(outbox.retrying > 0 ? "retrying" : "pending")}
      />
      <Stat
        name="Dead letters"
        value={outbox.dead.toLocaleString("en")}
        more={outbox.dead === 0 ? "No dead letters" : "Events that were not delivered"}
        tone={outbox.dead > 0 ? "bad" : undefined}
        href={eventsThatAre("dead")}
      />
      <Stat
        name="Uptime"
        value={span(health.uptimeSeconds)}
        more={`Skyhook ${health.version}, ${databaseNames[health.database]}`}
      />
    </dl>
  );
}
