import { useEffect, useRef, useState } from "preact/hooks";

import { replayFilters } from "../../../events/event-filters.ts";
import { ActionButton } from "../kit/action.tsx";
import { Actor, History } from "../kit/actor.tsx";
import { type ApiError, callApi } from "../kit/api.ts";
import { CopyButton } from "../kit/copy.tsx";
import { span } from "../kit/durations.ts";
import { LoadedDetail } from "../kit/layout.tsx";
import { toApiError, useLoad } from "../kit/load.ts";
import { writeRoute } from "../kit/route.ts";
import { counted, Mono, type Of } from "../kit/text.tsx";
import { ExactTime, Time } from "../kit/time.tsx";
import { ErrorMessage, Facts } from "../kit/ui.tsx";
import type { Replay } from "../kit/wire.ts";

import { Outcomes } from "./replay-outcomes.tsx";
import { doneOf, queryOf, ReplayError, ReplayStatus, useDestinationName } from "./replay-parts.tsx";

/** How long after a response a running replay is read again. */
const pauseMs = 700;

interface Parts {
  readonly id: string;
  readonly close: string;
  /** Called when it was stopped, was resumed or has finished. */
  readonly changed: () => void;
}

/** A replay: its progress while it runs, and what became of its events. */
export function ReplayPane({ id, close, changed }: Parts) {
  const path = `v1/replays/${encodeURIComponent(id)}`;
  const loaded = useLoad<Replay>(path);
  const { value, error, reload, set } = loaded;
  const status = value?.status;
  const isRunning = status === "running";
  useEffect(() => {
    // After a response, and not at intervals: on a slow connection each would cancel the one before.
    const timer = isRunning ? setTimeout(reload, pauseMs) : undefined;
    return () => clearTimeout(timer);
  }, [value, error]);
  useEffect(changed, [status]);

  return (
    <LoadedDetail label="Replay" close={close} of={loaded}>
      {(replay) => (
        <article class="replay">
          <header>
            <h2>Replay of {counted(replay.total, "event")}</h2>
            <p class="under">
              <ReplayStatus of={replay} />
              <span>
                started <Time at={replay.createdAt} /> by <Actor of={replay.actor} />
              </span>
            </p>
            <History of={replay.id} version={replay.status} />
            <Actions of={replay} path={path} acted={set} />
          </header>
          {error !== null && <ErrorMessage error={error} retry={reload} />}
          <Progress of={replay} />
          <Outcomes of={replay} />
          <Chosen of={replay} />
        </article>
      )}
    </LoadedDetail>
  );
}

interface ActionParts {
  readonly of: Replay;
  readonly path: string;
  readonly acted: (replay: Replay) => void;
}

const verbs = {
  running: ["stop", "Stop", "The replay was not stopped"],
  stopped: ["resume", "Resume", "The replay was not resumed"],
  finished: null,
} as const;

function Actions({ of: replay, path, acted }: ActionParts) {
  const [failure, setFailure] = useState<{ title: string; error: ApiError } | null>(null);
  const action = verbs[replay.status];

  async function act([verb, , title]: NonNullable<typeof action>): Promise<void> {
    setFailure(null);
    try {
      acted(await callApi<Replay>(`${path}/${verb}`, { method: "POST" }));
    } catch (cause) {
      setFailure({ title, error: toApiError(cause) });
    }
  }

  return (
    <>
      <div class="actions">
        {action !== null && (
          <ActionButton
            label={action[1]}
            isMain={replay.status === "stopped"}
            act={() => act(action)}
          />
        )}
        <a
          class="button"
          href={writeRoute("replays", "new", new URLSearchParams(queryOf(replay.filters)))}
        >
          Replay again…
        </a>
        <CopyButton label="Copy ID" text={() => replay.id} />
      </div>
      {failure !== null && <ReplayError {...failure} />}
    </>
  );
}

function Progress({ of: replay }: Of<Replay>) {
  const { status, total, ratePerSecond } = replay;
  const done = doneOf(replay);
  const rate = useRate(replay);
  const share = status === "finished" ? 1 : total === 0 ? 0 : Math.min(1, done / total);
  const text = `${done.toLocaleString("en")} of ${total.toLocaleString("en")}`;
  const left = Math.max(0, total - done);
  return (
    <section class="progress" aria-label="Progress">
      <div
        class="meter"
        role="progressbar"
        aria-label="Events replayed"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.floor(share * 100)}
        aria-valuetext={text}
      >
        <span style={{ width: `${share * 100}%` }} />
      </div>
      <p class="under">
        <strong data-progress>{text}</strong>
        <span>{Math.floor(share * 100)}&nbsp;%</span>
        {status === "running" && (
          <>
            <span data-rate>
              {rate === null ? "Measuring the rate" : `${rounded(rate)} per second`}, at most{" "}
              {ratePerSecond}
            </span>
            {left > 0 && <span>about {span(Math.ceil(left / (rate ?? ratePerSecond)))} left</span>}
          </>
        )}
        {status === "stopped" && <span>{counted(left, "event")} left</span>}
      </p>
      <p class="hidden-label" role="status">
        {status !== "running" && `${status === "finished" ? "Finished" : "Stopped"}: ${text}`}
      </p>
    </section>
  );
}

function rounded(rate: number): string {
  return rate.toLocaleString("en", { maximumFractionDigits: rate < 10 ? 1 : 0 });
}

/** The rate is that of the last readings. */
const maxReadings = 8;

/** Events per second while it runs; null until it is known. */
function useRate(replay: Replay): number | null {
  const readings = useRef<readonly { readonly atMs: number; readonly done: number }[]>([]);
  const reading = { atMs: Date.parse(replay.updatedAt), done: doneOf(replay) };
  if (replay.status !== "running") readings.current = [];
  else if (readings.current.at(-1)?.done !== reading.done) {
    readings.current = [...readings.current, reading].slice(-maxReadings);
  }
  const [first] = readings.current;
  if (first === undefined || reading.atMs <= first.atMs) return null;
  const rate = ((reading.done - first.done) * 1_000) / (reading.atMs - first.atMs);
  return rate > 0 ? rate : null;
}

const labels: ReadonlyMap<string, string> = new Map(
  Object.entries(replayFilters).map(([name, { label }]) => [name, label]),
);

function Chosen({ of: { filters, ratePerSecond, updatedAt, id } }: Of<Replay>) {
  const { from, to, destination, ...others } = filters;
  const destinationName = useDestinationName(destination);
  // A newer version may have filters that this page does not know.
  const chosen = Object.entries(others).map(
    ([name, value]) => [labels.get(name) ?? name, value] as const,
  );
  return (
    <section aria-labelledby="chosen">
      <h3 id="chosen">Events</h3>
      <Facts
        of={[
          ...chosen,
          [
            "Destination",
            destination ? (
              <a href={writeRoute("destinations", destination)}>{destinationName}</a>
            ) : null,
          ],
          ["Received from", from ? <ExactTime at={from} /> : "the first event"],
          ["Received until", <ExactTime at={to} />],
          ["Rate", `at most ${counted(ratePerSecond, "event")} per second`],
          ["Last progress", <Time at={updatedAt} />],
          ["Replay ID", <Mono of={id} />],
        ]}
      />
    </section>
  );
}
