import { lastDelivery } from "../kit/durations.ts";
import { Page } from "../kit/layout.tsx";
import { useInterval } from "../kit/live.ts";
import { useLoad } from "../kit/load.ts";
import { addRoute, writeRoute } from "../kit/route.ts";
import { isAdmin } from "../kit/session.ts";
import { Mono, type Of } from "../kit/text.tsx";
import { Time } from "../kit/time.tsx";
import { Badge, Empty, Facts, Source, Waiting } from "../kit/ui.tsx";
import type { ViewParts } from "../kit/views.ts";
import type { Provider, Providers } from "../kit/wire.ts";

import { AddProvider } from "./add-provider.tsx";
import { ProviderSetupView } from "./provider-setup.tsx";

const pollIntervalMs = 10_000;

/** The Providers view: the list and, for admins, the pages that add and connect a provider. */
export function ProvidersView({ route }: ViewParts) {
  const { id, query } = route;
  const add = query.get("add");
  if (isAdmin() && add !== null) return <AddProvider key={add} name={add} />;
  if (isAdmin() && id !== null) return <ProviderSetupView key={id} id={id} />;
  return <ProviderList />;
}

/** Activity and secret rotation of each registered provider. */
function ProviderList() {
  const loaded = useLoad<Providers>("v1/providers");
  const { value } = loaded;
  useInterval(loaded.reload, pollIntervalMs);
  return (
    <Page
      title="Providers"
      actions={
        isAdmin() && (
          <a class="button primary" href={addRoute()}>
            Add provider
          </a>
        )
      }
    >
      <Waiting for={loaded} what="providers" />
      {value?.data.length === 0 && (
        <Empty title="No providers registered">
          <p>
            {isAdmin()
              ? "Add a service from the catalogue, or a provider file."
              : "An admin can add providers here."}
          </p>
        </Empty>
      )}
      <div class="cards">
        {value?.data.map((provider) => (
          <Card key={provider.provider} provider={provider} />
        ))}
      </div>
    </Page>
  );
}

function Card({ provider }: { readonly provider: Provider }) {
  const { provider: id, displayName, hasSecret, lastEventAt, secrets } = provider;
  const query = new URLSearchParams({ provider: id });
  return (
    <section class="panel" aria-labelledby={`provider-${id}`}>
      <header class="panel-bar">
        <h2 id={`provider-${id}`} class="origin">
          <Source of={id} name={displayName} />
        </h2>
        {hasSecret ? <ActivityBadge of={provider} /> : <Badge tone="warn">No secret</Badge>}
      </header>
      <Facts
        of={[
          ["ID", <Mono of={id} />],
          ["Last delivery", lastDelivery(provider, Date.now())],
          ["Last event", lastEventAt === null ? "None stored" : <Time at={lastEventAt} />],
          ["Current secret", <Secret secret={secrets.current} />],
          ["Previous secret", <Previous secret={secrets.previous} />],
        ]}
      />
      <p class="links">
        {isAdmin() && <a href={writeRoute("providers", id)}>Set up</a>}{" "}
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

function ActivityBadge({ of: { isSilent, silentForSeconds } }: Of<Provider>) {
  if (isSilent) return <Badge tone="bad">Silent</Badge>;
  if (silentForSeconds === null) return <Badge tone="quiet">No deliveries</Badge>;
  return <Badge tone="good">Active</Badge>;
}
