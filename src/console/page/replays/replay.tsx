import { useState } from "preact/hooks";

import { callApi } from "../api.ts";
import { toApiError } from "../load.ts";
import { notify } from "../ui.tsx";
import type { EventDetail } from "../wire.ts";

interface Parts {
  /** The event's id. */
  readonly id: string;
  readonly isMain?: boolean;
  readonly replayed: (event: EventDetail) => void;
}

/** Replays an event: parses its stored body again and resends its notifications. */
export function Replay({ id, isMain = false, replayed }: Parts) {
  const [isBusy, setIsBusy] = useState(false);
  async function replay(): Promise<void> {
    setIsBusy(true);
    try {
      const path = `v1/events/${encodeURIComponent(id)}/replay`;
      const event = await callApi<EventDetail>(path, { method: "POST" });
      replayed(event);
      const hasNotifications = event.notifications.length > 0;
      notify(
        hasNotifications
          ? "Replayed. Notifications are sent again."
          : "Replayed. Events of this type send no notifications.",
      );
    } catch (cause) {
      notify(`Replay failed. ${toApiError(cause).message}`, "bad");
    }
    setIsBusy(false);
  }
  return (
    <button
      type="button"
      class={isMain ? "primary" : ""}
      // Not `disabled`, which would take the focus from the button.
      aria-disabled={isBusy}
      title="Interprets the stored bytes again and resends notifications"
      onClick={() => {
        if (!isBusy) void replay();
      }}
    >
      {isBusy ? "Replaying…" : "Replay and resend"}
    </button>
  );
}
