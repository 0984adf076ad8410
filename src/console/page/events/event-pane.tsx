import { useState } from "preact/hooks";

import { Effect, WithBooking } from "../kit/booking-link.tsx";
import { CopyButton } from "../kit/copy.tsx";
import { Body, Headers } from "../kit/event/body.tsx";
import { curlOf } from "../kit/event/curl.ts";
import { NotificationEntry } from "../kit/event/notification.tsx";
import { LoadedDetail } from "../kit/layout.tsx";
import { useInterval, useNews } from "../kit/live.ts";
import { useLoad } from "../kit/load.ts";
import { writeRoute } from "../kit/route.ts";
import { counted, ExternalLink, Mono, type Of, Text, words } from "../kit/text.tsx";
import { ExactTime, Time } from "../kit/time.tsx";
import { Delivery, Facts, Source, Status } from "../kit/ui.tsx";
import type { EventDetail } from "../kit/wire.ts";

import { Replay } from "./replay.tsx";

/** Used while notifications are still being delivered. */
const pollIntervalMs = 3_000;

const tabs = ["Timeline", "Body", "Headers"] as const;

/** An event: its delivery attempts first, then what it says and how it was received; beside them the exact bytes. */
export function EventPane({ id, close }: { readonly id: string; readonly close: string }) {
  const loaded = useLoad<EventDetail>(`v1/events/${encodeURIComponent(id)}`);
  const { value, reload, set } = loaded;
  useNews(reload);
  const [resent, setResent] = useState<Resent | null>(null);
  const [tab, setTab] = useState<(typeof tabs)[number]>("Timeline");
  const replayed = (after: EventDetail) => {
    setTab("Timeline");
    setResent({ id: resentOf(value, after) });
    set(after);
  };
  const isDelivering = value?.notifications.some(({ dueAt }) => dueAt !== null) ?? false;
  useInterval(() => isDelivering && reload(), pollIntervalMs);

  return (
    <LoadedDetail label="Event" close={close} of={loaded}>
      {(event) => (
        <article>
          <header>
            <h2>
              <Text of={event.title} />
            </h2>
            <p class="under">
              <Delivery of={event.delivery} /> <Severity of={event} />
              {event.status !== "accepted" && <Status of={event.status} />}
              <Source of={event.provider} /> <Mono of={event.type} /> <Time at={event.createdAt} />
            </p>
            <div class="actions">
              <Replay of={event} replayed={replayed} />
              {event.receipt !== null && event.body !== null && <CopyCurl event={event} />}
              <CopyButton label="Copy ID" text={() => event.id} />
            </div>
          </header>
          <div class="tabs sections" role="group" aria-label="Part of the event">
            {tabs.map((name) => (
              <button
                key={name}
                type="button"
                aria-pressed={tab === name}
                onClick={() => setTab(name)}
              >
                {name}
              </button>
            ))}
          </div>
          {tab === "Timeline" && (
            <ol class="timeline">
              <Notifications event={event} resent={resent} />
              {event.effect !== null && <Effect of={event.effect} />}
              <Interpreted event={event} />
              <Received event={event} />
            </ol>
          )}
          {tab === "Body" && <BodyTab event={event} />}
          {tab === "Headers" && <HeadersTab event={event} />}
        </article>
      )}
    </LoadedDetail>
  );
}

/** Most severe first. */
const severities = ["error", "warning", "success", "info"] as const;

/** The highest severity among the notifications, as in the list of events. */
function Severity({ of: { notifications } }: Of<EventDetail>) {
  const highest = severities.find((one) => notifications.some(({ severity }) => severity === one));
  return highest === undefined || highest === "info" ? null : (
    <span class={`severity ${highest}`}>{words(highest)}</span>
  );
}

/** What a replay sent. Each replay makes a new object, even if it resends the same notification. */
interface Resent {
  readonly id: string | undefined;
}

/** The first notification that a replay created or, if it created none, the first that it resent. */
function resentOf(before: EventDetail | null, after: EventDetail): string | undefined {
  const known = new Set(before?.notifications.map(({ id }) => id));
  const created = after.notifications.find(({ id }) => !known.has(id));
  return (created ?? after.notifications.find(({ dueAt }) => dueAt !== null))?.id;
}

/** The first notification is created together with its event. One created later than this comes from a replay. */
const sameTimeMs = 2_000;

interface NotificationsParts {
  readonly event: EventDetail;
  readonly resent: Resent | null;
}

function Notifications({ event, resent }: NotificationsParts) {
  const { notifications } = event;
  if (notifications.length === 0) {
    return (
      <li class="step">
        <h3>No notification</h3>
        <p class="quiet">Events of this type are stored without notifying operators.</p>
      </li>
    );
  }
  const lastMs = Date.parse(event.createdAt) + sameTimeMs;
  return (
    <>
      {notifications.map((notification, index) => (
        <NotificationEntry
          key={notification.id}
          of={notification}
          number={notifications.length > 1 ? index + 1 : null}
          isReplay={index > 0 || Date.parse(notification.createdAt) > lastMs}
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
      label="Copy as cURL"
      text={() => curlOf(location.origin, { provider, headers, body, bodyEncoding })}
    />
  );
}

const secretNames = { current: "Current secret", previous: "Previous secret" };

function Received({ event }: { readonly event: EventDetail }) {
  const { receipt } = event;
  if (receipt === null) {
    return (
      <li class="step">
        <h3>Created by Skyhook</h3>
        <p>
          <ExactTime at={event.createdAt} />
        </p>
      </li>
    );
  }
  const { duplicates, signedWith, item, items } = receipt;
  return (
    <li class="step">
      <h3>{event.recovered ? "Recovered from the provider’s log" : "Received and verified"}</h3>
      <Facts
        of={[
          [event.recovered ? "Recovered" : "Received", <ExactTime at={receipt.receivedAt} />],
          [event.recovered ? "Provider’s API" : "IP address", <Mono of={receipt.address} />],
          ["Signed with", signedWith === null ? null : secretNames[signedWith]],
          ["Size", counted(receipt.bodyBytes, "byte")],
          ["Item", item === null ? null : <Item {...event} item={item} items={items} />],
          ["Duplicates", duplicates === 0 ? null : `${duplicates}, not processed again`],
        ]}
      />
    </li>
  );
}

/** `3 of 12 of this delivery`, with links to the items next to it. */
function Item({
  item,
  items,
  previousItem,
  nextItem,
}: Pick<EventDetail, "previousItem" | "nextItem"> &
  Pick<NonNullable<EventDetail["receipt"]>, "item" | "items">) {
  return (
    <>
      {item} of {items} of this delivery
      {previousItem !== null && (
        <>
          {" "}
          · <a href={writeRoute("events", previousItem)}>previous</a>
        </>
      )}
      {nextItem !== null && (
        <>
          {" "}
          · <a href={writeRoute("events", nextItem)}>next</a>
        </>
      )}
    </>
  );
}

function BodyTab({ event: { receipt, body, bodyEncoding } }: { readonly event: EventDetail }) {
  if (body !== null) return <Body of={{ body, bodyEncoding }} />;
  return (
    <p class="quiet">
      {receipt === null
        ? "Skyhook created this event: nothing was received."
        : "The body was deleted: its retention period (BODY_RETENTION_DAYS) is over."}
    </p>
  );
}

function HeadersTab({ event: { receipt } }: { readonly event: EventDetail }) {
  if (receipt !== null) return <Headers of={receipt.headers} isOpen />;
  return <p class="quiet">Skyhook created this event: nothing was received.</p>;
}

function Interpreted({ event }: { readonly event: EventDetail }) {
  const { subject, actor, url } = event;
  const data = Object.entries(event.data);
  return (
    <li class="step">
      <h3>Interpreted event</h3>
      <Facts
        of={[
          ["Event ID", <Mono of={event.id} />],
          ["Occurred", <ExactTime at={event.occurredAt} />],
          [
            "Subject",
            subject === null ? null : (
              <span class="mono">
                {event.provider === "bookings" ? (
                  <WithBooking of={subject} />
                ) : (
                  <Text of={subject} />
                )}
              </span>
            ),
          ],
          ["Actor", actor],
          ["Link", url === null ? null : <ExternalLink to={url} />],
          ["Idempotency key", <Mono of={event.idempotencyKey} />],
          ...data.map(([name, value]) => [name, <Mono of={String(value)} />] as const),
        ]}
      />
    </li>
  );
}
