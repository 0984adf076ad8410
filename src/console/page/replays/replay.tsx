import { ActionButton } from "../action.tsx";
import { callApi } from "../api.ts";
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
  const path = `v1/events/${encodeURIComponent(id)}/replay`;
  return (
    <ActionButton
      label="Replay and resend"
      busy="Replaying…"
      name="Replay"
      title="Interprets the stored bytes again and resends notifications"
      isMain={isMain}
      act={async () => {
        const event = await callApi<EventDetail>(path, { method: "POST" });
        replayed(event);
        const isSent = event.notifications.length > 0;
        const result = isSent
          ? "Notifications are sent again."
          : "Events of this type send no notifications.";
        notify(`Replayed. ${result}`);
      }}
    />
  );
}
