import { Actor } from "../kit/actor.tsx";
import { listView } from "../kit/list/list-view.tsx";
import { timeColumn } from "../kit/list/rows.tsx";
import { useName } from "../kit/names.ts";
import { writeRoute } from "../kit/route.ts";
import { counted, type Of, Text } from "../kit/text.tsx";
import { Empty } from "../kit/ui.tsx";
import type { Replay } from "../kit/wire.ts";

import { ReplayForm } from "./replay-form.tsx";
import { ReplayPane } from "./replay-pane.tsx";
import { doneOf, filtersText, ReplayStatus, useDestinationName } from "./replay-parts.tsx";

/** The Replays view: what was replayed in bulk and, beside it, a new or an open replay. */
export const Replays = listView<Replay>({
  view: "replays",
  what: ["replay", "replays"],
  path: () => "v1/replays",
  pollIntervalMs: 3_000,
  columns: [
    { head: "Status", at: "outcome", width: "104px", cell: (it) => <ReplayStatus of={it} /> },
    { head: "Events", at: "title", cell: (it) => <Chosen of={it} /> },
    { head: "Progress", at: "kind", width: "minmax(0, 220px)", cell: progressText },
    {
      head: "By",
      at: "by",
      width: "minmax(0, 180px)",
      isWideOnly: true,
      cell: ({ actor }) => <Actor of={actor} />,
    },
    timeColumn("Started"),
  ],
  narrow: `"title outcome" "kind time" / minmax(0, 1fr) auto`,
  action: () => (
    <a class="button primary" href={writeRoute("replays", "new")}>
      New replay
    </a>
  ),
  empty: (
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
  ),
  detail: ({ id, close, route, changed }) =>
    id === "new" ? (
      <ReplayForm route={route} close={close} started={changed} />
    ) : (
      <ReplayPane key={id} id={id} close={close} changed={changed} />
    ),
});

function Chosen({ of: { filters } }: Of<Replay>) {
  const destination = useDestinationName(filters.destination);
  const name = useName(filters.provider ?? "");
  const provider = filters.provider === null ? null : name;
  return <Text of={filtersText({ ...filters, destination, provider })} />;
}

function progressText(replay: Replay): string {
  const { total, failed } = replay;
  const failures = failed > 0 ? `, ${failed.toLocaleString("en")} failed` : "";
  return `${doneOf(replay).toLocaleString("en")} of ${counted(total, "event")}${failures}`;
}
