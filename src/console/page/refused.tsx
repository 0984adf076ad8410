import { useRef } from "preact/hooks";

import { ProviderFilter } from "./filters.tsx";
import { ListPane, Split } from "./list-pane.tsx";
import { useList } from "./list.ts";
import { useInterval } from "./live.ts";
import { RefusedPane } from "./refused-pane.tsx";
import { type Route, writeRoute } from "./route.ts";
import { counted, Text, words } from "./text.tsx";
import { Time } from "./time.tsx";
import { Badge, Empty } from "./ui.tsx";
import type { RejectionItem } from "./wire.ts";

/** No feed tells of refusals: they are looked for this often. */
const lookMs = 3_000;

/** What did not verify, and why. */
export function Refused({ route }: { readonly route: Route }) {
  const { id, query } = route;
  const scroller = useRef<HTMLDivElement>(null);
  const provider = query.get("provider") ?? "";
  const path = `v1/rejections${provider === "" ? "" : `?provider=${encodeURIComponent(provider)}`}`;
  const list = useList<RejectionItem>(path, () => (scroller.current?.scrollTop ?? 0) < 8);
  useInterval(list.refresh, lookMs);

  return (
    <Split
      title="Refused"
      filters={
        <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
          <ProviderFilter route={route} own={[]} />
        </form>
      }
      list={
        <ListPane
          what={["refused delivery", "refused deliveries"]}
          list={list}
          scroller={scroller}
          open={id}
          query={query}
          empty={
            <Empty
              title={provider === "" ? "Nothing was refused" : `Nothing of ${provider} was refused`}
            >
              <p>Deliveries that do not verify appear here, with the reason. To see one:</p>
              <pre>skyhook send code_host workflow_run.completed --tamper signature</pre>
            </Empty>
          }
          row={(rejection) => (
            <a
              class="row refused"
              href={writeRoute("refused", rejection.id, query)}
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
        id === null ? null : <RefusedPane id={id} close={writeRoute("refused", null, query)} />
      }
    />
  );
}
