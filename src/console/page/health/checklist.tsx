import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { commandOf } from "../kit/given.ts";
import { useInterval, useNews } from "../kit/live.ts";
import { useLoad } from "../kit/load.ts";
import { addRoute, writeRoute } from "../kit/route.ts";
import { isAdmin } from "../kit/session.ts";
import type { Destination, EventItem, Page, Providers } from "../kit/wire.ts";

/** Set in a browser for which the checklist is done or hidden. */
const doneKey = "skyhook.started";
const pollIntervalMs = 5_000;

export interface Checklist {
  readonly providers: Providers["data"];
  readonly hasDestination: boolean;
  readonly hasEvent: boolean;
  readonly hide: () => void;
}

/** What a new installation lacks; null if it lacks nothing, or that is not known yet. */
export function useChecklist(): Checklist | null {
  const [isDone, setDone] = useState(() => localStorage.getItem(doneKey) !== null);
  const path = (name: string) => (isDone ? null : name);
  const providers = useLoad<Providers>(path("v1/providers"));
  const destinations = useLoad<Page<Destination>>(path("v1/destinations?limit=1"));
  const events = useLoad<Page<EventItem>>(path("v1/events?limit=1"));
  const reload = () => [providers, destinations, events].forEach((one) => one.reload());
  useInterval(reload, pollIntervalMs);
  useNews(reload);
  const hasDestination = (destinations.value?.data.length ?? 0) > 0;
  const hasEvent = (events.value?.data.length ?? 0) > 0;
  const hasSecret = providers.value?.data.some((provider) => provider.hasSecret) === true;
  const isComplete = hasSecret && hasDestination && hasEvent;
  const hide = () => {
    localStorage.setItem(doneKey, "");
    setDone(true);
  };
  useEffect(() => void (isComplete && hide()), [isComplete]);
  const isKnown = destinations.value !== null && events.value !== null;
  if (isComplete || !isKnown || providers.value === null) return null;
  return { providers: providers.value.data, hasDestination, hasEvent, hide };
}

/** The way to the first notification, with the state of each step. */
export function FirstSteps({ providers, hasDestination, hasEvent, hide }: Checklist) {
  const ready = providers.find((provider) => provider.hasSecret);
  const provider = ready ?? providers[0];
  const setUp = provider === undefined ? addRoute() : writeRoute("providers", provider.provider);
  return (
    <section class="panel first-steps" aria-labelledby="first-steps">
      <header class="panel-bar">
        <h2 id="first-steps">Get started</h2>
        <button type="button" onClick={hide}>
          Hide
        </button>
      </header>
      <ol>
        <Step title="Set a provider’s secret" isDone={ready !== undefined}>
          <p>
            Skyhook verifies each webhook with the secret that it shares with the service. For
            development secrets, run <code>{commandOf("secrets init")}</code> on the server.
          </p>
          {isAdmin() && (
            <a class="button primary" href={setUp}>
              Set up a provider
            </a>
          )}
        </Step>
        <Step title="Choose who is notified" isDone={hasDestination}>
          <p>Send events to Slack, PagerDuty, e-mail or your own service.</p>
          {isAdmin() && (
            <a class="button" href={writeRoute("destinations", "new")}>
              Add a destination
            </a>
          )}
        </Step>
        <Step title="Receive the first event" isDone={hasEvent}>
          {!hasEvent && ready !== undefined && (
            <p class="waiting" role="status">
              <span class="spinner" aria-hidden="true" /> Waiting for the first delivery…
            </p>
          )}
          <p>
            Enter the provider’s URL at the service, or send a signed test event from here. In a
            terminal: <code>{commandOf("send github workflow_run.completed")}</code>
          </p>
          {isAdmin() && ready !== undefined && (
            <a class="button" href={setUp}>
              Send a test event
            </a>
          )}
        </Step>
      </ol>
      {!isAdmin() && (
        <p class="quiet">
          To change anything, sign in as an admin: <code>{commandOf("console --role admin")}</code>
        </p>
      )}
    </section>
  );
}

interface StepParts {
  readonly title: string;
  readonly isDone: boolean;
  readonly children: ComponentChildren;
}

/** What to do, unless it is done. */
function Step({ title, isDone, children }: StepParts) {
  return (
    <li class={isDone ? "done" : ""}>
      <h3>
        {title}
        {isDone && <span class="hidden-label"> (done)</span>}
      </h3>
      {!isDone && children}
    </li>
  );
}
