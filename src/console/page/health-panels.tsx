import type { ComponentChildren } from "preact";

import { heard, span } from "./durations.ts";
import { Replay } from "./replay.tsx";
import { writeRoute } from "./route.ts";
import { counted, Text } from "./text.tsx";
import { Time } from "./time.tsx";
import { Badge, Empty } from "./ui.tsx";
import type { Health, NotificationItem, Page, Provider } from "./wire.ts";

/** The numbers that tell at a glance whether anything is wrong. */
export function Figures({ health }: { readonly health: Health }) {
  const { acknowledgements: took, outbox } = health;
  const waiting = outbox.pending + outbox.retrying;
  return (
    <dl class="figures">
      <Figure
        name="Acknowledged in"
        value={milliseconds(took.p50Ms)}
        more={
          took.p50Ms === null
            ? `no delivery in ${span(took.windowSeconds)}`
            : `median; p95 ${milliseconds(took.p95Ms)}, p99 ${milliseconds(took.p99Ms)}`
        }
      />
      <Figure
        name="Deliveries"
        value={took.count.toLocaleString("en")}
        more={`acknowledged in the last ${span(took.windowSeconds)}`}
      />
      <Figure
        name="Outbox"
        value={waiting.toLocaleString("en")}
        more={
          outbox.oldestSeconds === null
            ? "nothing waits"
            : `${outbox.retrying} retrying; the oldest waits for ${span(outbox.oldestSeconds)}`
        }
        tone={outbox.retrying > 0 ? "warn" : undefined}
      />
      <Figure
        name="Dead letters"
        value={outbox.dead.toLocaleString("en")}
        more={outbox.dead === 0 ? "none was given up" : "given up; see below"}
        tone={outbox.dead > 0 ? "bad" : undefined}
      />
      <Figure
        name="Up for"
        value={span(health.uptimeSeconds)}
        more={`Skyhook ${health.version}, ${health.database}`}
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

function Figure({ name, value, more, tone }: FigureParts) {
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

function milliseconds(value: number | null): string {
  if (value === null) return "–";
  return `${value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en")} ms`;
}

/** Who has not been heard of, against how often they usually are. */
export function Silence({ providers }: { readonly providers: readonly Provider[] }) {
  return (
    <section class="panel" aria-labelledby="silence">
      <h2 id="silence">Last heard</h2>
      <ul class="lines">
        {providers.map((provider) => (
          <li key={provider.provider}>
            <Badge
              tone={
                provider.isSilent ? "bad" : provider.silentForSeconds === null ? "quiet" : "good"
              }
            >
              {provider.isSilent
                ? "silent"
                : provider.silentForSeconds === null
                  ? "never heard"
                  : "heard"}
            </Badge>
            <span class="mono">{provider.provider}</span>
            <span class="quiet">{heard(provider, Date.now())}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

export const deadLetters = "v1/notifications?status=dead&limit=20";
export type DeadLetterPage = Page<NotificationItem>;

interface DeadLettersParts {
  readonly page: DeadLetterPage;
  readonly reload: () => void;
}

/** What was given up, to be sent again when the gateway takes it. */
export function DeadLetters({ page: { data, pagination }, reload }: DeadLettersParts) {
  return (
    <section class="panel" aria-labelledby="dead">
      <h2 id="dead">Dead letters</h2>
      {data.length === 0 && (
        <Empty title="None">
          <p>
            A notification that the operator gateway does not take for some seven hours is given up,
            and stands here.
          </p>
        </Empty>
      )}
      {data.length > 0 && (
        <ul class="lines">
          {data.map((dead) => (
            <li key={dead.id}>
              <Badge tone="bad">dead</Badge>
              <a href={writeRoute("events", dead.eventId)}>
                <Text of={dead.title} />
              </a>
              <span class="quiet">
                <Time at={dead.createdAt} />, {counted(dead.attemptCount, "try", "tries")}
                {dead.lastError !== null && ": "}
                {dead.lastError !== null && <Text of={dead.lastError} />}
              </span>
              <Replay id={dead.eventId} replayed={reload} />
            </li>
          ))}
        </ul>
      )}
      {pagination.hasMore && <p class="quiet">Only the newest 20 are shown.</p>}
    </section>
  );
}
