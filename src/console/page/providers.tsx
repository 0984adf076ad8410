import { heard } from "./durations.ts";
import { useLoad } from "./load.ts";
import { useInterval } from "./live.ts";
import { writeRoute } from "./route.ts";
import { Time } from "./time.tsx";
import { Badge, Empty, Facts, Fault, Loading } from "./ui.tsx";
import type { Provider, Providers } from "./wire.ts";

const lookMs = 10_000;

/** Each registered provider: whether it is heard, and where the change of its secret stands. */
export function ProvidersView() {
  const { value, error, reload } = useLoad<Providers>("v1/providers");
  useInterval(reload, lookMs);
  return (
    <div class="page">
      <header class="bar">
        <h1>Providers</h1>
      </header>
      {error !== null && <Fault error={error} retry={reload} />}
      {value === null && error === null && <Loading what="providers" />}
      {value?.data.length === 0 && (
        <Empty title="No provider is registered">
          <p>Name some in WEBHOOK_PROVIDERS and start again.</p>
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
  const {
    provider: id,
    displayName,
    hasSecret,
    isSilent,
    silentForSeconds,
    lastEventAt,
    secrets,
  } = provider;
  const query = new URLSearchParams({ provider: id });
  return (
    <section class="panel" aria-labelledby={`provider-${id}`}>
      <header class="panel-bar">
        <h2 id={`provider-${id}`}>{displayName}</h2>
        {hasSecret ? (
          <Badge tone={isSilent ? "bad" : silentForSeconds === null ? "quiet" : "good"}>
            {isSilent ? "silent" : silentForSeconds === null ? "never heard" : "heard"}
          </Badge>
        ) : (
          <Badge tone="warn">no secret</Badge>
        )}
      </header>
      <Facts
        of={[
          ["name", <span class="mono">{id}</span>],
          ["last heard", heard(provider, Date.now())],
          ["last event", lastEventAt === null ? "none is kept" : <Time at={lastEventAt} />],
          ["current secret", <Secret secret={secrets.current} />],
          ["previous secret", <Previous secret={secrets.previous} />],
        ]}
      />
      <p class="links">
        <a href={writeRoute("events", null, query)}>Events</a>{" "}
        <a href={writeRoute("refused", null, query)}>Refused</a>
      </p>
    </section>
  );
}

function Secret({ secret }: { readonly secret: Provider["secrets"]["current"] }) {
  if (!secret.present) return <>not set: deliveries are answered 503</>;
  if (secret.lastMatchedAt === null) return <>set; nothing was signed with it yet</>;
  return (
    <>
      last used <Time at={secret.lastMatchedAt} />
    </>
  );
}

function Previous({ secret }: { readonly secret: Provider["secrets"]["previous"] }) {
  if (!secret.present) return <span class="quiet">none: no rotation is under way</span>;
  return (
    <>
      {secret.lastMatchedAt === null ? (
        "never used"
      ) : (
        <>
          last used <Time at={secret.lastMatchedAt} />
        </>
      )}{" "}
      <Badge tone={secret.safeToRemove ? "good" : "warn"}>
        {secret.safeToRemove ? "safe to remove" : "keep it for now"}
      </Badge>
    </>
  );
}
