import { apiQuery, ProviderFilter, SelectFilter } from "../filters.tsx";
import { ListPane, Split } from "../list-pane.tsx";
import { useList } from "../list.ts";
import { type Route, writeRoute } from "../route.ts";
import { counted, Text, words } from "../text.tsx";
import { TimeFilter, useTimeRange } from "../time-filter.tsx";
import { Time } from "../time.tsx";
import { Badge, Empty, Monogram } from "../ui.tsx";
import type { RejectionItem } from "../wire.ts";

import { RejectionPane } from "./rejection-pane.tsx";

/** The feed does not carry rejections: poll for them. */
const pollIntervalMs = 3_000;
/** To choose from, the most common ones first. */
const reasons: Readonly<Record<RejectionItem["reason"], true>> = {
  "wrong-signature": true,
  "missing-signature": true,
  "malformed-signature": true,
  "several-signatures": true,
  "missing-signed-value": true,
  "missing-timestamp": true,
  "stale-timestamp": true,
  "untrusted-key": true,
  "unsupported-scheme": true,
  "body-too-large": true,
  "unsupported-encoding": true,
};

/** The Rejected view: deliveries that failed verification, and why. */
export function Rejections({ route }: { readonly route: Route }) {
  const { id, query } = route;
  const path = `v1/rejections?${apiQuery(query, ["provider", "reason"], useTimeRange(query))}`;
  const list = useList<RejectionItem>(path, pollIntervalMs);

  return (
    <Split
      title="Rejected"
      filters={
        <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
          <SelectFilter
            route={route}
            name="reason"
            label="Reason"
            all="Any reason"
            options={Object.keys(reasons)}
            labelOf={words}
          />
          <ProviderFilter route={route} own={[]} />
          <TimeFilter route={route} />
          {query.size > 0 && <a href={writeRoute("rejections", id)}>Clear filters</a>}
        </form>
      }
      list={
        <ListPane
          what={["rejected delivery", "rejected deliveries"]}
          list={list}
          open={id}
          query={query}
          head={["Reason", "Provider", "Address", "Size", "Received"]}
          empty={query.size > 0 ? <NoMatch /> : <NoRejections />}
          row={(rejection) => (
            <a
              class="row rejected-delivery"
              href={writeRoute("rejections", rejection.id, query)}
              data-row
              aria-current={rejection.id === id ? "true" : undefined}
            >
              <span class="cell outcome">
                <Badge tone="bad">{words(rejection.reason)}</Badge>
              </span>
              <span class="cell source">
                <Monogram of={rejection.provider} />
                <span class="provider">{rejection.provider}</span>
              </span>
              <span class="cell kind mono">
                <Text of={rejection.address} />
              </span>
              <span class="cell size">{counted(rejection.bodyBytes, "byte")}</span>
              <span class="cell time">
                <Time at={rejection.createdAt} />
              </span>
            </a>
          )}
        />
      }
      detail={
        id === null ? null : <RejectionPane id={id} close={writeRoute("rejections", null, query)} />
      }
    />
  );
}

function NoMatch() {
  return (
    <Empty title="No rejected deliveries match these filters">
      <p>
        <a href={writeRoute("rejections")}>Show all rejected deliveries</a>. Those that were
        accepted are under <a href={writeRoute("events")}>Events</a>.
      </p>
    </Empty>
  );
}

function NoRejections() {
  return (
    <Empty title="No rejected deliveries">
      <p>Deliveries that fail verification appear here. To send one, run:</p>
      <pre>skyhook send code_host workflow_run.completed --tamper signature</pre>
    </Empty>
  );
}
