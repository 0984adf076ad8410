import { useState } from "preact/hooks";

import { Problem, useAction } from "../kit/action.tsx";
import { callApi } from "../kit/api.ts";
import { useInterval, useNews } from "../kit/live.ts";
import { type Loaded, useLoad } from "../kit/load.ts";
import { writeRoute } from "../kit/route.ts";
import { type Of, Text } from "../kit/text.tsx";
import { Time } from "../kit/time.tsx";
import { notify, Status, Waiting } from "../kit/ui.tsx";
import type { Acknowledgement, EventItem, Page, ProviderSetup } from "../kit/wire.ts";

/** The feed carries only events with notifications; polling finds the others. */
const pollIntervalMs = 2_000;

interface TestParts {
  readonly setup: ProviderSetup;
  readonly path: string;
}

/** Sends a signed test event, and shows the newest events of the provider. */
export function TestEvent({ setup, path }: TestParts) {
  const { provider, displayName, hasSecret, canTest, samples } = setup;
  const [event, setEvent] = useState(samples[0] ?? "");
  const { isBusy, error, run } = useAction();
  const query = new URLSearchParams({ provider, limit: "5", include: "severity" });
  const events = useLoad<Page<EventItem>>(`v1/events?${query}`, { keep: true });
  useNews(events.reload);
  useInterval(events.reload, pollIntervalMs);
  const send = () =>
    run(async () => {
      const { status } = await callApi<Acknowledgement>(`${path}/test`, {
        method: "POST",
        body: { event },
      });
      notify(`Test event ${status}`);
      events.reload();
    });
  return (
    <section class="panel" aria-labelledby="test">
      <h2 id="test">3. See an event arrive</h2>
      {canTest ? (
        <form
          class="filters"
          onSubmit={(submitted) => {
            submitted.preventDefault();
            void send();
          }}
        >
          <label>
            <span class="label">Sample</span>
            <select value={event} onChange={(changed) => setEvent(changed.currentTarget.value)}>
              {samples.map((sample) => (
                <option key={sample}>{sample}</option>
              ))}
            </select>
          </label>
          <button type="submit" class="primary" aria-disabled={isBusy}>
            {isBusy ? "Sending…" : "Send test event"}
          </button>
        </form>
      ) : (
        <p class="quiet">
          {hasSecret
            ? `Only ${displayName} can sign its deliveries. Send a test event from there.`
            : "Store the secret first."}
        </p>
      )}
      {error !== null && <Problem error={error} />}
      {hasSecret && <Arrivals of={events} />}
      <p class="quiet">
        A delivery that does not verify is under{" "}
        <a href={writeRoute("rejections", null, new URLSearchParams({ provider }))}>Rejected</a>,
        with the reason.
      </p>
    </section>
  );
}

function Arrivals({ of: loaded }: Of<Loaded<Page<EventItem>>>) {
  if (loaded.value === null) return <Waiting for={loaded} what="events" />;
  const events = loaded.value.data;
  return (
    <div aria-live="polite">
      {events.length === 0 ? (
        <p class="waiting">
          <span class="spinner" aria-hidden="true" /> Waiting for the first event…
        </p>
      ) : (
        <ul class="lines" data-arrivals>
          {events.map(({ id, title, type, status, severity, createdAt }) => (
            <li key={id}>
              <Status of={severity ?? status} />
              <a href={writeRoute("events", id)}>
                <Text of={title} />
              </a>
              <span class="mono quiet">
                <Text of={type} />
              </span>
              <Time at={createdAt} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
