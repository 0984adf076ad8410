import type { ComponentChildren } from "preact";

import { milliseconds, span } from "../durations.ts";
import { writeRoute } from "../route.ts";
import type { Health } from "../wire.ts";

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
        more={
          outbox.dead === 0 ? (
            "No dead letters"
          ) : (
            <a href={writeRoute("events", null, new URLSearchParams({ delivery: "dead" }))}>
              Events that were not delivered
            </a>
          )
        }
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
