import { lastDelivery } from "../kit/durations.ts";
import { Page } from "../kit/layout.tsx";
import { useInterval } from "../kit/live.ts";
import { useLoad } from "../kit/load.ts";
import { useSpan } from "../kit/ranges.ts";
import { addRoute, newId, writeRoute } from "../kit/route.ts";
import { isAdmin } from "../kit/session.ts";
import { Mono, type Of } from "../kit/text.tsx";
import { Time } from "../kit/time.tsx";
import { Badge, Empty, Facts, Source, Waiting } from "../kit/ui.tsx";
import type { ViewParts } from "../kit/views.ts";
import type { Deliveries, Provider, Providers } from "../kit/wire.ts";

import { AddProvider } from "./add-provider.tsx";
import { ProviderSetupView } from "./provider-setup.tsx";
import { Volume } from "./volume.tsx";

const pollIntervalMs = 10_000;

/** The Providers view: the list and, for admins, the pages that add and connect a provider. */
export function ProvidersView({ route }: ViewParts) {
  const { id, query } = route;
  const service = query.get("service") ?? "";
  if (isAdmin() && id === newId) return <AddProvider key={service} name={service} />;
  if (isAdmin() && id !== null) return <ProviderSetupView key={id} id={id} />;
  return <ProviderList />;
}

/** Those that cannot receive, or no longer do, come first. */
function urgency({ hasSecret, isSilent }: Provider): number {
  if (!hasSecret) return 0;
  return isSilent ? 1 : 2;
}

/** Activity and secret rotation of each registered provider. */
function ProviderList() {
  const loaded = useLoad<Providers>("v1/providers");
  const { value } = loaded;
  const volume = useLoad<Deliveries>(`v1/statistics/deliveries?${useSpan("24h", 3_600)}`, {
    keep: true,
  });
  useInterval(() => {
    loaded.reload();
    volume.reload();
  }, pollIntervalMs);
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
        {value?.data
          .toSorted((one, other) => urgency(one) - urgency(other))
          .map((provider) => (
            <Card key={provider.provider} provider={provider} deliveries={volume.value} />
          ))}
      </div>
    </Page>
  );
}

interface CardParts {
  readonly provider: Provider;
  /** Null until they are loaded. */
  readonly deliveries: Deliveries | null;
}

function Card({ provider, deliveries }: CardParts) {
  const { provider: id, displayName, hasSecret, secrets } = provider;
  const query = new URLSearchParams({ provider: id });
  const link = (text: string, to: string) => (
    <a href={to} aria-label={`${text}: ${displayName}`}>
      {text}
    </a>
  );
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
          ["Deliveries in 24 h", deliveries && <Volume of={deliveries} provider={id} />],
          ["Previous secret", secrets.previous.present ? <Previous of={secrets.previous} /> : null],
        ]}
      />
      <p class="links">
        {isAdmin() && link("Set up", writeRoute("providers", id))}
        {link("Events", writeRoute("events", null, query))}
        {link("Rejected", writeRoute("rejections", null, query))}
      </p>
    </section>
  );
}

function Previous({ of: secret }: Of<Provider["secrets"]["previous"]>) {
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
