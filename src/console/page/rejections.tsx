import { useRef } from "preact/hooks";

import { ProviderFilter } from "./filters.tsx";
import { ListPane, Split } from "./list-pane.tsx";
import { useList } from "./list.ts";
import { useInterval } from "./live.ts";
import { RejectionPane } from "./rejection-pane.tsx";
import { type Route, writeRoute } from "./route.ts";
import { counted, Text, words } from "./text.tsx";
import { Time } from "./time.tsx";
import { Badge, Empty } from "./ui.tsx";
import type { RejectionItem } from "./wire.ts";

/** The feed does not carry rejections: poll for them. */
const pollIntervalMs = 3_000;

/** The Rejected view: deliveries that failed verification, and why. */
export function Rejections({ route }: { readonly route: Route }) {
  const { id, query } = route;
  const scroller = useRef<HTMLDivElement>(null);
  const provider = query.get("provider") ?? "";
  const path = `v1/rejections${provider === "" ? "" : `?provider=${encodeURIComponent(provider)}`}`;
  const list = useList<RejectionItem>(path, () => (scroller.current?.scrollTop ?? 0) < 8);
  useInterval(list.refresh, pollIntervalMs);

  return (
    <Split
      title="Rejected"
      filters={
        <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
          <ProviderFilter route={route} own={[]} />
        </form>
      }
      list={
        <ListPane
          what={["rejected delivery", "rejected deliveries"]}
          list={list}
          scroller={scroller}
          open={id}
          query={query}
          empty={
            <Empty
              title={
                provider === ""
                  ? "No rejected deliveries"
                  : `No rejected deliveries from ${provider}`
              }
            >
              <p>Deliveries that fail verification appear here. To send one, run:</p>
              <pre>skyhook send code_host workflow_run.completed --tamper signature</pre>
            </Empty>
          }
          row={(rejection) => (
            <a
              class="row rejection"
              href={writeRoute("rejections", rejection.id, query)}
              data-row
              aria-current={rejection.id === id ? "true" : undefined}
            >
              <span class="cell time">
                <Time at={rejection.createdAt} />
              </span>
              <span class="cell title">
                <Badge tone="bad">{words(rejection.reason)}</Badge>
              </span>
              <span class="cell kind mono">
                <span class="provider">{rejection.provider}</span> <Text of={rejection.address} />{" "}
                {counted(rejection.bodyBytes, "byte")}
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
