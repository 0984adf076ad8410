import { ListPane, Split } from "../list-pane.tsx";
import { useList } from "../list.ts";
import { type Route, writeRoute } from "../route.ts";
import { counted, Text } from "../text.tsx";
import { Time } from "../time.tsx";
import { Empty } from "../ui.tsx";
import type { Replay } from "../wire.ts";

import { ReplayForm } from "./replay-form.tsx";
import { ReplayPane } from "./replay-pane.tsx";
import { doneOf, filtersText, ReplayStatus } from "./replay-parts.tsx";

const pollIntervalMs = 3_000;
const noQuery = new URLSearchParams();
const close = writeRoute("replays");

/** The Replays view: what was replayed in bulk and, beside it, a new or an open replay. */
export function Replays({ route }: { readonly route: Route }) {
  const { id } = route;
  const list = useList<Replay>("v1/replays", pollIntervalMs);
  return (
    <Split
      title="Replays"
      filters={null}
      action={
        <a class="button" href={writeRoute("replays", "new")}>
          New replay
        </a>
      }
      list={
        <ListPane
          what={["replay", "replays"]}
          list={list}
          open={id}
          query={noQuery}
          head={["Status", "Events", "Progress", "By", "Started"]}
          empty={<NoReplays />}
          row={(replay) => <Row replay={replay} isOpen={replay.id === id} />}
        />
      }
      detail={detailOf(route, list.refresh)}
    />
  );
}

function detailOf(route: Route, changed: () => void) {
  const { id } = route;
  if (id === null) return null;
  if (id === "new") return <ReplayForm route={route} close={close} started={changed} />;
  return <ReplayPane key={id} id={id} close={close} changed={changed} />;
}

function Row({ replay, isOpen }: { readonly replay: Replay; readonly isOpen: boolean }) {
  const { id, total, failed, filters, actor, createdAt } = replay;
  return (
    <a
      class="row replay"
      href={writeRoute("replays", id)}
      data-row
      aria-current={isOpen ? "true" : undefined}
    >
      <span class="cell outcome">
        <ReplayStatus of={replay} />
      </span>
      <span class="cell title">
        <Text of={filtersText(filters)} />
      </span>
      <span class="cell kind">
        {doneOf(replay).toLocaleString("en")} of {counted(total, "event")}
        {failed > 0 && `, ${failed.toLocaleString("en")} failed`}
      </span>
      <span class="cell size mono">
        <Text of={actor} />
      </span>
      <span class="cell time">
        <Time at={createdAt} />
      </span>
    </a>
  );
}

function NoReplays() {
  return (
    <Empty title="No replays yet">
      <p>
        A replay parses stored events again and sends their notifications again: after a fix, or
        after an outage of a receiver.
      </p>
      <p>
        Set filters under <a href={writeRoute("events")}>Events</a> and choose “Replay these…”, or{" "}
        <a href={writeRoute("replays", "new")}>choose the events here</a>.
      </p>
    </Empty>
  );
}
