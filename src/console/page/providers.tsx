import { lastDelivery } from "./durations.ts";
import { ActivityBadge } from "./health-panels.tsx";
import { useLoad } from "./load.ts";
import { useInterval } from "./live.ts";
import { writeRoute } from "./route.ts";
import { Time } from "./time.tsx";
import { Badge, Empty, Facts, ErrorMessage, Loading } from "./ui.tsx";
import type { Provider, Providers } from "./wire.ts";

const pollIntervalMs = 10_000;

/** The Providers view: activity and secret rotation of each registered provider. */
export function ProvidersView() {
  const { value, error, reload } = useLoad<Providers>("v1/providers");
  useInterval(reload, pollIntervalMs);
  return (
    <div class="page">
      <header class="bar">
        <h1>Providers</h1>
      </header>
      {error !== null && <ErrorMessage error={error} retry={reload} />}
      {value === null && error === null && <Loading what="providers" />}
      {value?.data.length === 0 && (
        <Empty title="No providers registered">
          <p>Add providers to WEBHOOK_PROVIDERS and restart Skyhook.</p>
        </Empty>
      )}
      <div class="cards">
        {value?.data.map((provider) => (
          <Card key={provider.provider} provider={provider} />
        ))}
      </div>
    </div>
  );
}

function Card({ provider }: { readonly provider: Provider }) {
  const { provider: id, displayName, hasSecret, lastEventAt, secrets } = provider;
  const query = new URLSearchParams({ provider: id });
  return (
    <section class="panel" aria-labelledby={`provider-${id}`}>
      <header class="panel-bar">
        <h2 id={`provider-${id}`}>{displayName}</h2>
        {hasSecret ? <ActivityBadge of={provider} /> : <Badge tone="warn">No secret</Badge>}
      </header>
      <Facts
        of={[
          ["Name", <span class="mono">{id}</span>],
          ["Last delivery", lastDelivery(provider, Date.now())],
          ["Last event", lastEventAt === null ? "None stored" : <Time at={lastEventAt} />],
          ["Current secret", <Secret secret={secrets.current} />],
          ["Previous secret", <Previous secret={secrets.previous} />],
        ]}
      />
      <p class="links">
        <a href={writeRoute("events", null, query)}>Events</a>{" "}
        <a href={writeRoute("rejections", null, query)}>Rejected</a>
      </p>
    </section>
  );
}

function Secret({ secret }: { readonly secret: Provider["secrets"]["current"] }) {
  if (!secret.present) return <>Not set. Deliveries get 503.</>;
  if (secret.lastMatchedAt === null) return <>Set, not used yet</>;
  return (
    <>
      Last used <Time at={secret.lastMatchedAt} />
    </>
  );
}

function Previous({ secret }: { readonly secret: Provider["secrets"]["previous"] }) {
  if (!secret.present) return <span class="quiet">None. No rotation in progress.</span>;
  return (
    <>
      {secret.lastMatchedAt === null ? (
        "Never used"
      ) : (
        <>
          Last used <Time at={secret.lastMatchedAt} />
        </>
      )}{" "}
      <Badge tone={secret.safeToRemove ? "good" : "warn"}>
        {secret.safeToRemove ? "Safe to remove" : "Keep for now"}
      </Badge>
    </>
  );
}
