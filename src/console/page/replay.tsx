import { useState } from "preact/hooks";

import { ask } from "./api.ts";
import { faultOf } from "./load.ts";
import { notify } from "./ui.tsx";
import type { EventDetail } from "./wire.ts";

interface Parts {
  /** The event's. */
  readonly id: string;
  readonly isMain?: boolean;
  readonly replayed: (event: EventDetail) => void;
}

/** Reads an event anew and tells operators again: the API's one way to put a delivery right. */
export function Replay({ id, isMain = false, replayed }: Parts) {
  const [isBusy, setIsBusy] = useState(false);
  async function replay(): Promise<void> {
    setIsBusy(true);
    try {
      const path = `v1/events/${encodeURIComponent(id)}/replay`;
      const event = await ask<EventDetail>(path, { method: "POST" });
      replayed(event);
      const isTold = event.notifications.length > 0;
      notify(
        isTold ? "Replayed: operators are told again" : "Replayed: nobody is told of such an event",
      );
    } catch (failure) {
      notify(`Not replayed: ${faultOf(failure).message}`, "bad");
    }
    setIsBusy(false);
  }
  return (
    <button
      type="button"
      class={isMain ? "primary" : ""}
      // Not `disabled`, which would take the focus from who pressed it.
      aria-disabled={isBusy}
      title="Reads the stored bytes anew and sends its notifications again"
      onClick={() => {
        if (!isBusy) void replay();
      }}
    >
      {isBusy ? "Replaying…" : "Replay and resend"}
    </button>
  );
}
