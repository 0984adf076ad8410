import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { ActionButton } from "../action.tsx";
import { callApi } from "../api.ts";
import { Text } from "../text.tsx";
import { notify } from "../ui.tsx";
import type { EventDetail } from "../wire.ts";

interface Parts {
  /** The event's id. */
  readonly id: string;
  /** What it does, as a sentence. */
  readonly consequence: string;
  readonly isMain?: boolean;
  readonly replayed: (event: EventDetail) => void;
}

/** Replays an event, after asking: parses its stored body again and resends its notifications. */
export function Replay({ id, consequence, isMain = false, replayed }: Parts) {
  const [isAsking, setAsking] = useState<boolean | null>(null);
  const place = useRef<HTMLSpanElement>(null);
  // The button that had the focus is gone.
  useLayoutEffect(() => {
    if (isAsking !== null) place.current?.querySelector("button")?.focus();
  }, [isAsking]);
  if (isAsking !== true) {
    return (
      <span ref={place}>
        <button type="button" class={isMain ? "primary" : ""} onClick={() => setAsking(true)}>
          Replay and resend…
        </button>
      </span>
    );
  }
  return (
    <span class="asking" ref={place} role="group" aria-label="Replay and resend">
      <Text of={consequence} />
      <ActionButton
        label="Replay and resend"
        busy="Replaying…"
        name="Replay"
        isMain
        act={async () => {
          const path = `v1/events/${encodeURIComponent(id)}/replay`;
          const after = await callApi<EventDetail>(path, { method: "POST" });
          setAsking(false);
          replayed(after);
          const isSent = after.notifications.length > 0;
          const result = isSent
            ? "Notifications are sent again."
            : "Events of this type send no notifications.";
          notify(`Replayed. ${result}`);
        }}
      />
      <button type="button" onClick={() => setAsking(false)}>
        Cancel
      </button>
    </span>
  );
}

const listed = new Intl.ListFormat("en");

/** Who is notified, and who a second time. The API decides alike. */
export function consequenceOf({ status, notifications }: EventDetail): string {
  const hasFailed = notifications.some((it) => it.status !== "delivered" && it.lastError !== null);
  const deliveries = notifications.flatMap((it) => it.deliveries);
  const [received, failed] = [true, false].map((isReceived) => {
    const those = deliveries.filter(
      (it) => it.status !== "filtered" && (it.status === "delivered") === isReceived,
    );
    return listed.format(new Set(those.map(({ destination }) => destination)));
  });
  if (status === "accepted" && hasFailed) return `Only ${failed} will be notified again.`;
  if (received !== "") return `${received} will be notified a second time.`;
  return "The stored bytes are interpreted again, and notifications sent.";
}
