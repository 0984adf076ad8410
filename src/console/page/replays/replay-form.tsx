import { useState } from "preact/hooks";

import { limitingFilters, replayFilters } from "../../../events/event-filters.ts";
import { useQuestion } from "../kit/action.tsx";
import { ApiError, callApi } from "../kit/api.ts";
import { span } from "../kit/durations.ts";
import { eventControls, useNewestTypes } from "../kit/event/event-filters.tsx";
import { Fields, Form, valuesIn } from "../kit/form.tsx";
import { Detail } from "../kit/layout.tsx";
import { Controls, FilterControls, filtersIn } from "../kit/list/filters.tsx";
import { useTimeRange } from "../kit/list/time-filter.tsx";
import { useLoad } from "../kit/load.ts";
import { filterAll } from "../kit/location.ts";
import { type Route, writeRoute } from "../kit/route.ts";
import { counted } from "../kit/text.tsx";
import { Empty, FilterHint, Loading } from "../kit/ui.tsx";
import type { Replay, ReplayPreview } from "../kit/wire.ts";

import { queryOf, ReplayError } from "./replay-parts.tsx";
import { Differences, Samples, Summary } from "./replay-preview.tsx";

interface Parts {
  /** Its query has the filters, as that of the list of events. */
  readonly route: Route;
  readonly close: string;
  readonly started: () => void;
}

/** Chooses events, shows what a replay of them would do, and starts it. */
export function ReplayForm({ route, close, started }: Parts) {
  return (
    <Detail label="New replay" close={close}>
      <article class="replay">
        <header>
          <h2>Replay events</h2>
          <p class="quiet">
            Skyhook interprets the stored bytes of each event again, oldest first, and resends
            notifications that failed. Events that were delivered are left out, unless you choose
            them too.
          </p>
        </header>
        <Filters route={route} />
        {/* Another filter has other delivered events: they are chosen again. */}
        <Chosen key={route.query.toString()} route={route} started={started} />
      </article>
    </Detail>
  );
}

function Filters({ route }: { readonly route: Route }) {
  return (
    <Controls label="Events to replay">
      <FilterControls of={replayFilters} route={route} controls={eventControls(useNewestTypes())} />
    </Controls>
  );
}

/** The dry run of the filters and, below it, the start. Without events that were delivered, unless they are chosen too. */
function Chosen({ route, started }: Pick<Parts, "route" | "started">) {
  const { query } = route;
  const others = useTimeRange(query);
  const [isAll, setAll] = useState(false);
  const filters = filtersIn(query, replayFilters, others);
  const body = { ...filters, onlyUndelivered: !isAll };
  const isLimited = limitingFilters.some((name) => filters[name] !== undefined);
  const path = isLimited ? "v1/replays/preview" : null;
  const { value: preview, error, reload } = useLoad<ReplayPreview>(path, { body, keep: true });
  if (!isLimited) return <Unlimited route={route} />;
  if (error?.code === "invalid-parameter") return <FilterHint error={error} />;
  if (error !== null) {
    return (
      <ReplayError title="The dry run failed" error={error}>
        <button type="button" onClick={reload}>
          Try again
        </button>
      </ReplayError>
    );
  }
  if (preview === null) return <Loading what="dry run" />;
  const { total, delivered } = preview;
  if (total + delivered === 0) return <NoMatch />;
  // The previous dry run is shown until the next one is there, but must not start.
  const isCurrent = preview.filters.onlyUndelivered === !isAll;
  return (
    <>
      <Summary of={preview}>
        {delivered > 0 && <Delivered count={delivered} isChosen={isAll} choose={setAll} />}
      </Summary>
      <Samples of={preview} />
      {isCurrent && total > 0 && <Start of={preview} started={started} />}
      <Differences of={preview} />
    </>
  );
}

interface DeliveredParts {
  readonly count: number;
  readonly isChosen: boolean;
  readonly choose: (isChosen: boolean) => void;
}

/** The second choice that sends notifications again which were delivered. */
function Delivered({ count, isChosen, choose }: DeliveredParts) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isChosen}
        onChange={(event) => choose(event.currentTarget.checked)}
      />{" "}
      Also replay {counted(count, "delivered event")}
    </label>
  );
}

function NoMatch() {
  return (
    <Empty title="No events match these filters">
      <p>
        <a href={writeRoute("replays", "new", new URLSearchParams({ since: "24h" }))}>
          Choose the last 24 hours
        </a>
        , or <a href={writeRoute("events")}>search events</a>.
      </p>
    </Empty>
  );
}

function Unlimited({ route }: { readonly route: Route }) {
  const set = (values: Readonly<Record<string, string>>) => () => filterAll(route, values);
  return (
    <Empty title="Search, or choose a time or a delivery state">
      <p>This prevents replaying all events by mistake.</p>
      <div class="actions">
        <button type="button" onClick={set({ delivery: "dead" })}>
          Dead
        </button>
        <button type="button" onClick={set({ since: "1h" })}>
          Last hour
        </button>
        <button type="button" onClick={set({ since: "24h" })}>
          Last 24 hours
        </button>
      </div>
    </Empty>
  );
}

const rateFields = {
  ratePerSecond: {
    type: "integer",
    label: "Events per second",
    hint: "At most 1000. Slow receivers need a lower rate.",
  },
} as const;

interface StartParts {
  readonly of: ReplayPreview;
  readonly started: () => void;
}

/** From so many events on, their number must be typed before delivered ones are sent again. */
const manyEvents = 1_000;
const usualRate = 50;
/** The question before the start was answered with no. */
const declined = new ApiError(0, "declined", "");

/** Starts the replay of exactly what the dry run counted. Asks first if delivered events are sent again. */
function Start({ of: { filters, total, delivered }, started }: StartParts) {
  const [rate, setRate] = useState(usualRate);
  const isRepeated = filters.onlyUndelivered === false && delivered > 0;
  const label = `Replay ${counted(total, "event")}`;
  const { ask, element } = useQuestion({
    label,
    title: `Replay ${counted(delivered, "delivered event")}?`,
    text: `Receivers of ${delivered === 1 ? "this event" : "these events"} are notified a second time. This cannot be undone.`,
    typed: total > manyEvents ? String(total) : null,
  });
  return (
    <>
      <Form
        class="form start"
        submit={[label, "Starting…"]}
        shows={["ratePerSecond"]}
        watch={(textOf) => setRate(Number(textOf("ratePerSecond")))}
        problem={(error) =>
          error === declined ? null : (
            <ReplayError title="The replay was not started" error={error} />
          )
        }
        send={async (values) => {
          if (isRepeated && !(await ask())) throw declined;
          const { onlyUndelivered } = filters;
          const body = { ...queryOf(filters), onlyUndelivered, ...valuesIn(values, rateFields) };
          const replay = await callApi<Replay>("v1/replays", { method: "POST", body });
          started();
          return writeRoute("replays", replay.id);
        }}
      >
        <Fields of={rateFields} values={{ ratePerSecond: usualRate }} />
        {rate >= 1 && rate <= 1_000 && (
          <p class="quiet">
            About {span(Math.ceil(total / rate))} at {rate} per second.
          </p>
        )}
      </Form>
      {element}
    </>
  );
}
