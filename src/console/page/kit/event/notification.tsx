import { useEffect, useRef } from "preact/hooks";

import { milliseconds } from "../durations.ts";
import { writeRoute } from "../route.ts";
import { counted, ExternalLink, type Of, Text } from "../text.tsx";
import { DueTime, ExactTime, Time } from "../time.tsx";
import { Badge, Status, Wide } from "../ui.tsx";
import type { NotificationDetail, PreviewItem } from "../wire.ts";

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
  if (dueAt !== null) {
    return (
      <>
        {attempts.length === 0 ? "First" : "Next"} attempt <DueTime at={dueAt} />
      </>
    );
  }
  if (attempts.length === 0) return <>Sent to the feed and the log. No destination matches.</>;
  return null;
}

/** What became of a notification at each destination, with the attempts. */
function Deliveries({ of: { deliveries, attempts }, number }: Pick<Parts, "of" | "number">) {
  const which = number === null ? "" : `, notification ${number}`;
  const known = new Set<string>(deliveries.map(({ destinationId }) => destinationId));
  const others = attempts.filter(({ destinationId }) => !known.has(destinationId));
  return (
    <>
      {deliveries.map(({ destinationId, destination, status, filtered }) => {
        const own = attempts.filter((attempt) => attempt.destinationId === destinationId);
        return (
          <div key={destinationId}>
            <p class="under">
              <Status of={status} />
              <a href={writeRoute("destinations", destinationId)}>
                <Text of={destination} />
              </a>
              {filtered !== null && <Explanation of={filtered} />}
            </p>
            {own.length > 0 && <Attempts of={{ attempts: own }} to={`${destination}${which}`} />}
          </div>
        );
      })}
      {others.length > 0 && <Attempts of={{ attempts: others }} />}
    </>
  );
}

interface AttemptsParts {
  readonly of: Pick<NotificationDetail, "attempts">;
  /** The destination, where the page shows those of several. */
  readonly to?: string;
}

/** The attempts to deliver a notification. */
export function Attempts({ of: { attempts }, to }: AttemptsParts) {
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
