import { causeTexts } from "../../../inbound/rejections/causes.ts";
import { rejectionFilters } from "../../../inbound/rejections/rejection-filters.ts";
import { commandOf } from "../kit/given.ts";
import { apiQuery, Filters, ProviderFilter } from "../kit/list/filters.tsx";
import { listView } from "../kit/list/list-view.tsx";
import { providerColumn, timeColumn } from "../kit/list/rows.tsx";
import { TimeFilter } from "../kit/list/time-filter.tsx";
import { type Route, writeRoute } from "../kit/route.ts";
import { counted, words } from "../kit/text.tsx";
import { Badge, Empty } from "../kit/ui.tsx";
import type { RejectionItem } from "../kit/wire.ts";

import { RejectionPane } from "./rejection-pane.tsx";

const Providers = ({ route }: { readonly route: Route }) => (
  <ProviderFilter route={route} own={[]} />
);

const textByCause: ReadonlyMap<string, string> = new Map(Object.entries(causeTexts));

/** The Rejected view: deliveries that failed verification, and why. */
export const Rejections = listView<RejectionItem>({
  view: "rejections",
  what: ["rejected delivery", "rejected deliveries"],
  path: (query, range) =>
    `v1/rejections?${apiQuery(query, rejectionFilters, [...range, ["include", "cause"]])}`,
  // The feed does not carry rejections: poll for them.
  pollIntervalMs: 3_000,
  columns: [
    {
      head: "Reason",
      at: "title",
      cell: ({ reason }) => <Badge tone="bad">{words(reason)}</Badge>,
    },
    {
      head: "Cause",
      at: "cause",
      // A long list is examined in parts. A newer server may know other causes.
      cell: ({ cause = null }) =>
        cause === null ? "Not examined yet" : (textByCause.get(cause) ?? words(cause)),
    },
    providerColumn,
    {
      head: "Event or path",
      at: "kind",
      width: "minmax(0, 200px)",
      look: "mono",
      cell: ({ type = null }) => type ?? "",
    },
    {
      head: "Address",
      at: "from",
      width: "minmax(0, 150px)",
      isWideOnly: true,
      look: "mono",
      cell: ({ address }) => address,
    },
    {
      head: "Size",
      at: "size",
      width: "110px",
      isWideOnly: true,
      cell: ({ bodyBytes }) => counted(bodyBytes, "byte"),
    },
    timeColumn("Received"),
  ],
  groupOf: ({ provider, reason, cause, type }) => JSON.stringify([provider, reason, cause, type]),
  narrow: `"title title cause" "source kind time" / auto minmax(0, 1fr) auto`,
  filters: ({ route }) => (
    <Filters
      of={rejectionFilters}
      route={route}
      controls={{
        // The most common ones first.
        reason: {
          all: "Any reason",
          options: ["wrong-signature", "missing-signature", "malformed-signature"],
        },
        provider: Providers,
        time: TimeFilter,
      }}
    />
  ),
  noMatch: () => (
    <Empty title="No rejected deliveries match these filters">
      <p>
        <a href={writeRoute("rejections")}>Show all rejected deliveries</a>. Those that were
        accepted are under <a href={writeRoute("events")}>Events</a>.
      </p>
    </Empty>
  ),
  empty: (
    <Empty title="No rejected deliveries">
      <p>Deliveries that fail verification appear here. To send one, run:</p>
      <pre>{commandOf("send code_host workflow_run.completed --tamper signature")}</pre>
    </Empty>
  ),
  detail: ({ id, close }) => <RejectionPane id={id} close={close} />,
});
