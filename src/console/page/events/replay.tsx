import { attempt, Confirmed, useAction } from "../kit/action.tsx";
import { callApi } from "../kit/api.ts";
import type { Of } from "../kit/text.tsx";
import { notify } from "../kit/ui.tsx";
import type { EventDetail } from "../kit/wire.ts";

interface Parts extends Of<EventDetail> {
  readonly replayed: (event: EventDetail) => void;
}

/** Replays an event, after asking: parses its stored body again and resends its notifications. */
export function Replay({ of: event, replayed }: Parts) {
  const { run } = useAction();
  const replay = async () => {
    const path = `v1/events/${encodeURIComponent(event.id)}/replay`;
    const after = await callApi<EventDetail>(path, { method: "POST" });
    replayed(after);
    const isSent = after.notifications.length > 0;
    const result = isSent
      ? "Notifications are sent again."
      : "Events of this type send no notifications.";
    notify(`Replayed. ${result}`);
  };
  return (
    <Confirmed
      label="Replay and resend"
      title="Replay this event?"
      text={consequenceOf(event)}
      isMain
      confirm={() => void run(() => attempt("Replay", replay))}
    />
  );
}

const listed = new Intl.ListFormat("en");

/** Who is notified, and who a second time. The API decides alike. */
function consequenceOf({ status, notifications }: EventDetail): string {
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
