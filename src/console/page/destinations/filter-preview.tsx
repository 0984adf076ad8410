import { useEffect, useState } from "preact/hooks";

import { Explanation } from "../kit/event/notification.tsx";
import { useLoad } from "../kit/load.ts";
import { writeRoute } from "../kit/route.ts";
import { counted, type Of, Text } from "../kit/text.tsx";
import { Time } from "../kit/time.tsx";
import { Badge } from "../kit/ui.tsx";
import type { Preview, PreviewItem } from "../kit/wire.ts";

/** The filter is tried when typing has paused for this long. */
const pauseMs = 300;

interface Parts {
  readonly filter: string;
  readonly format: string;
  /** Whether alerts about Skyhook itself are sent too. */
  readonly hasAlerts: boolean;
}

/** Tries a filter on the newest notifications while it is typed. */
export function FilterPreview({ filter, format, hasAlerts }: Parts) {
  const tried = usePaused(filter.trim());
  const path = tried === null ? null : "v1/destinations/preview";
  const body = { filter: tried === "" ? null : tried, format };
  const { value, error } = useLoad<Preview>(path, { body, keep: true });
  const found = value?.notifications.filter(({ provider }) => hasAlerts || provider !== "skyhook");
  const shown = error === null ? (found ?? null) : null;
  return (
    <section class="preview" aria-labelledby="preview">
      <h3 id="preview">Preview</h3>
      <p role="status" class={error === null ? "quiet" : "error"}>
        {error === null ? summaryOf(shown) : error.message}
      </p>
      {shown !== null && shown.length > 0 && (
        <ul class="lines" tabIndex={0} aria-label="Preview of the newest notifications">
          {shown.map((each) => (
            <Line key={each.notificationId} of={each} />
          ))}
        </ul>
      )}
    </section>
  );
}

function summaryOf(notifications: Preview["notifications"] | null): string {
  if (notifications === null) return "Trying the filter…";
  if (notifications.length === 0) return "No notifications yet to try the filter on.";
  const sent = notifications.filter(({ delivered }) => delivered).length;
  return `Would send ${sent} of the newest ${counted(notifications.length, "notification")}.`;
}

/** A text, once it has not changed for `pauseMs`; null before the first time. */
function usePaused(text: string): string | null {
  const [paused, setPaused] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}

function Line({ of: each }: Of<PreviewItem>) {
  const { delivered, explanation, error, eventId, title, createdAt, type } = each;
  return (
    <li>
      <Badge tone={delivered ? "good" : "quiet"}>{delivered ? "Would be sent" : "Filtered"}</Badge>
      <a href={writeRoute("events", eventId)} target="_blank">
        <Text of={title} />
      </a>
      <span class="quiet">
        <Text of={type} />, <Time at={createdAt} />
      </span>
      {explanation !== null && (
        <p class="why">
          <Explanation of={explanation} />
        </p>
      )}
      {error !== null && (
        <p class="why">
          Would be sent, because the filter cannot be evaluated: <Text of={error} />
        </p>
      )}
    </li>
  );
}
