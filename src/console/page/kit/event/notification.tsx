import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { milliseconds, span } from "../durations.ts";
import { useLoad } from "../load.ts";
import { writeRoute } from "../route.ts";
import { counted, ExternalLink, type Of, Text } from "../text.tsx";
import { DueTime, ExactTime, Time } from "../time.tsx";
import { Badge, Status, Wide } from "../ui.tsx";
import type { DeliveryItem, Destination, NotificationDetail, Page, PreviewItem } from "../wire.ts";

interface Parts {
  readonly of: NotificationDetail;
  /** Its position among the event's notifications; null if it is the only one. */
  readonly number: number | null;
  /** Whether a replay created it. A replay may instead resend an existing one under its original id. */
  readonly isReplay: boolean;
  /** A new object whenever it was resent, which scrolls it into view. */
  readonly resent: object | null;
}

/** A notification in the timeline, with its delivery attempts. */
export function NotificationEntry({ of: notification, number, isReplay, resent }: Parts) {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (resent !== null) item.current?.scrollIntoView({ block: "center" });
  }, [resent]);
  return (
    <li class={resent === null ? "step" : "step fresh"} ref={item}>
      <h3>
        Notification{number !== null && ` ${number}`}
        {(isReplay || isResent(notification)) && ", resent"} <Status of={notification.status} />
      </h3>
      <p>
        <strong>
          <Text of={notification.title} />
        </strong>
        {notification.severity !== "info" && (
          <>
            {" "}
            <Status of={notification.severity} />
          </>
        )}
      </p>
      {notification.text !== "" && (
        <p>
          <Text of={notification.text} />
        </p>
      )}
      {notification.url !== null && (
        <p>
          <ExternalLink to={notification.url} />
        </p>
      )}
      <p class="quiet">
        <ExactTime at={notification.createdAt} /> <Outcome of={notification} />
      </p>
      <Deliveries of={notification} number={number} />
    </li>
  );
}

/** A replay resets the number of attempts of each failed delivery, but keeps the attempts themselves. */
function isResent({ deliveries, attempts }: NotificationDetail): boolean {
  return deliveries.some(({ destinationId, attemptCount }) => {
    const made = attempts.filter((attempt) => attempt.destinationId === destinationId);
    return made.length > attemptCount;
  });
}

function Outcome({ of: { status, attempts, attemptCount, dueAt } }: Of<NotificationDetail>) {
  if (status === "dead")
    return <>Delivery failed after {counted(attemptCount, "attempt")}. Replay to send it again.</>;
  if (dueAt !== null || attempts.length > 0) return null;
  return <>Sent to the feed and the log. No destination matches.</>;
}

/** What became of a notification at each destination, with the attempts. */
function Deliveries({
  of: { deliveries, attempts, createdAt },
  number,
}: Pick<Parts, "of" | "number">) {
  const which = number === null ? "" : `, notification ${number}`;
  const known = new Set<string>(deliveries.map(({ destinationId }) => destinationId));
  const others = attempts.filter(({ destinationId }) => !known.has(destinationId));
  const isAnyOpen = deliveries.some(isUndelivered);
  const all = useLoad<Page<Destination>>(
    isAnyOpen ? "v1/destinations?owner=operators&limit=100" : null,
  );
  return (
    <>
      <ul class="lines">
        {deliveries.map((delivery) => {
          const { destinationId: id, destination: name, filtered } = delivery;
          const own = attempts.filter(({ destinationId }) => destinationId === id);
          const destination = all.value?.data.find((each) => each.id === id);
          return (
            <DeliveryLine
              key={id}
              of={{ ...delivery, createdAt, attempts: own }}
              to={destination}
              label={`${name}${which}`}
              href={writeRoute("destinations", id)}
              name={name}
              more={
                isUndelivered(delivery) &&
                destination !== undefined && <LastSuccess of={destination} attempts={own} />
              }
            >
              {filtered !== null && <Explanation of={filtered} />}
            </DeliveryLine>
          );
        })}
      </ul>
      {others.length > 0 && <Attempts of={{ attempts: others }} />}
    </>
  );
}

const isUndelivered = ({ status }: { readonly status: string }): boolean =>
  status !== "delivered" && status !== "filtered";

interface LineParts {
  readonly of: Pick<NotificationDetail, "deliveredAt" | "createdAt" | "dueAt" | "lastError"> & {
    readonly status: string;
    readonly attempts: NotificationDetail["attempts"];
  };
  /** Where it is delivered; unknown until it is loaded. */
  readonly to: Pick<Destination, "state" | "openUntil"> | undefined;
  readonly href: string;
  readonly name: string;
  /** Names the attempts, where the page shows those of several deliveries. */
  readonly label?: string;
  readonly children?: ComponentChildren;
  /** Below the attempts, which are then open. */
  readonly more?: ComponentChildren;
}

/** A delivery in one line. Its outcome opens for the attempts. */
export function DeliveryLine({ of, to, href, name, label, children, more }: LineParts) {
  const outcome = (
    <>
      {children} <DeliveryOutcome of={of} to={to} />
      {of.attempts.length > 1 && ` · ${counted(of.attempts.length, "attempt")}`}
    </>
  );
  return (
    <li>
      <Status of={of.status} />
      <a href={href}>
        <Text of={name} />
      </a>
      {of.attempts.length === 0 ? (
        <span class="quiet">{outcome}</span>
      ) : (
        <details open={Boolean(more)}>
          <summary class="quiet">{outcome}</summary>
          <Attempts of={of} {...(label !== undefined && { to: label })} />
          {more}
        </details>
      )}
    </li>
  );
}

function DeliveryOutcome({ of, to }: Pick<LineParts, "of" | "to">) {
  const { deliveredAt, createdAt, dueAt, lastError } = of;
  if (deliveredAt !== null) {
    const ms = Date.parse(deliveredAt) - Date.parse(createdAt);
    return <>delivered after {ms < 1_000 ? `${Math.max(0, ms)}\u00a0ms` : span(ms / 1_000)}</>;
  }
  return (
    <>
      {dueAt !== null && <NextAttempt at={dueAt} to={to} />}
      {dueAt !== null && lastError !== null && ": "}
      {lastError !== null && <Text of={lastError} />}
    </>
  );
}

/** When the next attempt is due, or what it waits for. */
function NextAttempt({ at, to }: Pick<LineParts, "to"> & { readonly at: string }) {
  if (to !== undefined && to.state !== "active") return <>waits until it is resumed</>;
  if (to !== undefined && to.openUntil !== null) return <>waits until it answers again</>;
  return (
    <>
      next attempt <DueTime at={at} />
    </>
  );
}

interface LastParts extends Of<Destination> {
  readonly attempts: NotificationDetail["attempts"];
}

/** What a failed delivery is compared with: the last success of its destination, and changes since. */
function LastSuccess({ of: { id, updatedAt }, attempts }: LastParts) {
  const path = `v1/destinations/${id}/deliveries?include=attempts&limit=1&status=delivered`;
  const { value } = useLoad<Page<DeliveryItem>>(path);
  const success = value?.data[0]?.attempts.find(({ delivered }) => delivered);
  if (value === null) return null;
  if (success === undefined) return <p class="quiet">Nothing was delivered there before.</p>;
  const isLater = success.startedAt > (attempts.at(-1)?.startedAt ?? "");
  return (
    <p class="quiet">
      {isLater ? "A later delivery succeeded" : "The last delivery that succeeded was"}{" "}
      <Time at={success.startedAt} />: {success.responseStatus ?? "accepted"} in{" "}
      {milliseconds(success.durationMs)}.
      {updatedAt > success.startedAt && (
        <>
          {" "}
          The destination was changed since, <Time at={updatedAt} />.
        </>
      )}
    </p>
  );
}

interface AttemptsParts {
  readonly of: Pick<NotificationDetail, "attempts">;
  /** The destination, where the page shows those of several. */
  readonly to?: string;
}

/** The attempts to deliver a notification. */
function Attempts({ of: { attempts }, to }: AttemptsParts) {
  return (
    <Wide label={to === undefined ? "Delivery attempts" : `Delivery attempts to ${to}`}>
      <table>
        <thead>
          <tr>
            <th>Attempt</th>
            <th>Time</th>
            <th>Response</th>
            <th class="number">Duration</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((attempt, index) => (
            <tr key={attempt.startedAt}>
              <td>{index + 1}</td>
              <td>
                <Time at={attempt.startedAt} />
              </td>
              <td>
                <Badge tone={attempt.delivered ? "good" : "bad"}>
                  {attempt.responseStatus ?? "No response"}
                </Badge>{" "}
                {attempt.error !== null && <Text of={attempt.error} />}
              </td>
              <td class="number">{milliseconds(attempt.durationMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

/** The clause of a filter that does not match, and the values that it read. */
export function Explanation({
  of: { clause, values },
}: Of<NonNullable<PreviewItem["explanation"]>>) {
  const read = Object.entries(values);
  return (
    <span>
      <code>
        <Text of={clause} />
      </code>
      {read.length > 0 && " is false: "}
      {read.map(([name, value], index) => (
        <>
          {index > 0 && ", "}
          <code>{name}</code> is{" "}
          <code>
            <Text of={JSON.stringify(value)} />
          </code>
        </>
      ))}
    </span>
  );
}
