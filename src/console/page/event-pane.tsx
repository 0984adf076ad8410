import { useEffect, useState } from "preact/hooks";

import { Body, Headers } from "./body.tsx";
import { curlOf } from "./curl.ts";
import { Detail } from "./list-pane.tsx";
import { useLoad } from "./load.ts";
import { useInterval, useLive } from "./live.ts";
import { NotificationStep } from "./notification.tsx";
import { Replay } from "./replay.tsx";
import { counted, OutsideLink, Text } from "./text.tsx";
import { ExactTime, Time } from "./time.tsx";
import { CopyButton, Facts, Fault, Loading, Status } from "./ui.tsx";
import type { EventDetail } from "./wire.ts";

/** How often a delivery under way is looked at. */
const lookMs = 3_000;

/** An event's timeline: how it came, what was made of it, who was told. */
export function EventPane({ id, close }: { readonly id: string; readonly close: string }) {
  const {
    value: event,
    error,
    reload,
    set,
  } = useLoad<EventDetail>(`v1/events/${encodeURIComponent(id)}`);
  const { news } = useLive();
  useEffect(() => void (news > 0 && reload()), [news]);
  const [resent, setResent] = useState<Resent | null>(null);
  const replayed = (after: EventDetail) => {
    setResent({ id: resentOf(event, after) });
    set(after);
  };
  const isUnderWay = event?.notifications.some(({ dueAt }) => dueAt !== null) ?? false;
  useInterval(() => isUnderWay && reload(), lookMs);

  return (
    <Detail label="Event" close={close}>
      {event === null && error !== null && <Fault error={error} retry={reload} />}
      {event === null && error === null && <Loading what="the event" />}
      {event !== null && (
        <article>
          <header>
            <h2>
              <Text of={event.title} />
            </h2>
            <p class="under">
              <Severity of={event} /> <Status of={event.status} />{" "}
              <span class="mono">{event.provider}</span>{" "}
              <span class="mono">
                <Text of={event.type} />
              </span>{" "}
              <Time at={event.createdAt} />
            </p>
            <div class="actions">
              <Replay id={event.id} isMain replayed={replayed} />
              {event.receipt !== null && event.body !== null && <CopyCurl event={event} />}
              <CopyButton label="Copy id" text={() => event.id} />
            </div>
          </header>
          <ol class="timeline">
            <Received event={event} />
            <Normalised event={event} />
            <Notifications event={event} resent={resent} />
          </ol>
        </article>
      )}
    </Detail>
  );
}

/** From the gravest on. */
const severities = ["error", "warning", "success", "info"] as const;

/** The gravest of what operators were told, as the list of events has it. */
function Severity({ of: { notifications } }: { readonly of: EventDetail }) {
  const found = severities.find((one) => notifications.some(({ severity }) => severity === one));
  return found === undefined ? null : <Status of={found} />;
}

/** What a replay sent; a new object for every replay, also where it is the same notification again. */
interface Resent {
  readonly id: string | undefined;
}

/** The first that a replay made; where it made none, the first that it sent again under its own id. */
function resentOf(before: EventDetail | null, after: EventDetail): string | undefined {
  const known = new Set(before?.notifications.map(({ id }) => id));
  const made = after.notifications.find(({ id }) => !known.has(id));
  return (made ?? after.notifications.find(({ dueAt }) => dueAt !== null))?.id;
}

/** Those of the event are made with it: what is made this much later was made by a replay. */
const togetherMs = 2_000;

interface NotificationsParts {
  readonly event: EventDetail;
  readonly resent: Resent | null;
}

function Notifications({ event, resent }: NotificationsParts) {
  const { notifications } = event;
  if (notifications.length === 0) {
    return (
      <li class="step">
        <h3>Nobody was told</h3>
        <p class="quiet">Operators are not told of this type of event. It is kept all the same.</p>
      </li>
    );
  }
  const lastMs = Date.parse(event.createdAt) + togetherMs;
  return (
    <>
      {notifications.map((notification, index) => (
        <NotificationStep
          key={notification.id}
          of={notification}
          number={notifications.length > 1 ? index + 1 : null}
          isAgain={Date.parse(notification.createdAt) > lastMs}
          resent={notification.id === resent?.id ? resent : null}
        />
      ))}
    </>
  );
}

function CopyCurl({ event }: { readonly event: EventDetail }) {
  const { receipt, body, bodyEncoding, provider } = event;
  if (receipt === null || body === null) return null;
  const { headers } = receipt;
  return (
    <CopyButton
      label="Copy as curl"
      text={() => curlOf(location.origin, { provider, headers, body, bodyEncoding })}
    />
  );
}

function Received({ event }: { readonly event: EventDetail }) {
  const { receipt, body, bodyEncoding } = event;
  if (receipt === null) {
    return (
      <li class="step">
        <h3>Made by Skyhook</h3>
        <p>
          <ExactTime at={event.createdAt} />
        </p>
      </li>
    );
  }
  const again = receipt.duplicates;
  return (
    <li class="step">
      <h3>Received and verified</h3>
      <Facts
        of={[
          ["at", <ExactTime at={receipt.receivedAt} />],
          ["address", <span class="mono">{receipt.address}</span>],
          [
            "signed with",
            receipt.signedWith === "current" ? "the current secret" : "the previous secret",
          ],
          ["size", counted(receipt.bodyBytes, "byte")],
          [
            "came again",
            again === 0
              ? null
              : again === 1
                ? "once; it counted once"
                : `${again} times; it counted once`,
          ],
        ]}
      />
      <Headers of={receipt.headers} />
      {body === null ? (
        <p class="quiet">
          The body is no longer kept: bodies are forgotten after BODY_RETENTION_DAYS.
        </p>
      ) : (
        <Body of={{ body, bodyEncoding }} />
      )}
    </li>
  );
}

function Normalised({ event }: { readonly event: EventDetail }) {
  const { subject, actor, url } = event;
  const data = Object.entries(event.data);
  return (
    <li class="step">
      <h3>Normalised</h3>
      <Facts
        of={[
          ["id", <span class="mono">{event.id}</span>],
          ["happened", <ExactTime at={event.occurredAt} />],
          [
            "subject",
            subject === null ? null : (
              <span class="mono">
                <Text of={subject} />
              </span>
            ),
          ],
          ["by", actor === null ? null : <Text of={actor} />],
          ["link", url === null ? null : <OutsideLink to={url} />],
          [
            "idempotency key",
            <span class="mono">
              <Text of={event.idempotencyKey} />
            </span>,
          ],
          ...data.map(
            ([name, value]) =>
              [
                name,
                <span class="mono">
                  <Text of={String(value)} />
                </span>,
              ] as const,
          ),
        ]}
      />
    </li>
  );
}
