import { useState } from "preact/hooks";

import { History } from "../kit/actor.tsx";
import { callApi } from "../kit/api.ts";
import { SecretOnce, takeSecret } from "../kit/copy.tsx";
import { Form } from "../kit/form.tsx";
import { Page } from "../kit/layout.tsx";
import { useInterval } from "../kit/live.ts";
import { useLoad } from "../kit/load.ts";
import { writeRoute } from "../kit/route.ts";
import { Mono } from "../kit/text.tsx";
import { Time } from "../kit/time.tsx";
import { Badge, Facts, notify, Waiting } from "../kit/ui.tsx";
import type { ProviderSetup, ProviderSetupWithSecret } from "../kit/wire.ts";

import { Address } from "./address.tsx";
import { givenSecret, SecretFields } from "./secret-fields.tsx";
import { TestEvent } from "./test-event.tsx";

const pollIntervalMs = 5_000;

/** Connects a provider: its URL, its secret, and a test event that arrives. */
export function ProviderSetupView({ id }: { readonly id: string }) {
  const path = `v1/providers/${encodeURIComponent(id)}`;
  const loaded = useLoad<ProviderSetup>(path);
  const { value: setup, set, reload } = loaded;
  useInterval(reload, pollIntervalMs);
  return (
    <Page
      title={setup?.displayName ?? "Provider"}
      look="narrow connect"
      actions={<a href={writeRoute("providers")}>All providers</a>}
    >
      {setup === null ? (
        <Waiting for={loaded} what="provider" />
      ) : (
        <>
          <Address
            of={setup}
            path={setup.path}
            publicUrl={setup.url?.slice(0, -setup.path.length) ?? null}
            badge={<Verified at={setup.verifiedAt} />}
          />
          <Secret setup={setup} path={path} set={set} />
          <TestEvent setup={setup} path={path} />
          <Details setup={setup} />
          <History of={setup.provider} />
        </>
      )}
    </Page>
  );
}

interface Parts {
  readonly setup: ProviderSetup;
}

/** Whether the URL works: only deliveries of the service count, not test events. */
function Verified({ at }: { readonly at: string | null }) {
  if (at === null) return <Badge tone="quiet">No delivery yet</Badge>;
  return (
    <Badge tone="good">
      Done, last delivery <Time at={at} />
    </Badge>
  );
}

interface SecretParts extends Parts {
  readonly path: string;
  readonly set: (setup: ProviderSetup) => void;
}

function Secret({ setup, path, set }: SecretParts) {
  const { provider, hasSecret, secretVariable } = setup;
  const [made, setMade] = useState(() => takeSecret(provider));
  const [isOpen, setIsOpen] = useState(false);
  return (
    <section class="panel" aria-labelledby="secret">
      <header class="panel-bar">
        <h2 id="secret">2. Store the secret</h2>
        <Badge tone={hasSecret ? "good" : "warn"}>{hasSecret ? "Stored" : "No secret"}</Badge>
      </header>
      {made !== null && (
        <SecretOnce title="Secret" secret={made} advice="Copy it now: it is not shown again." />
      )}
      {secretVariable !== null && (
        <p class="quiet">
          The variable <code>{secretVariable}</code> sets it. Change it there and restart Skyhook.
        </p>
      )}
      {secretVariable === null && hasSecret && !isOpen && (
        <p>
          <button type="button" onClick={() => setIsOpen(true)}>
            Replace
          </button>
        </p>
      )}
      {secretVariable === null && (isOpen || !hasSecret) && (
        <NewSecret
          setup={setup}
          path={path}
          done={({ madeSecret, ...changed }) => {
            setMade(madeSecret);
            setIsOpen(false);
            set(changed);
          }}
        />
      )}
    </section>
  );
}

interface NewSecretParts extends Parts {
  readonly path: string;
  readonly done: (changed: ProviderSetupWithSecret) => void;
}

function NewSecret({ setup, path, done }: NewSecretParts) {
  return (
    <Form
      class="stack"
      submit={["Store secret", "Storing…"]}
      shows={["secret"]}
      send={async (values) => {
        const body = givenSecret(values);
        done(await callApi<ProviderSetupWithSecret>(`${path}/secret`, { method: "PUT", body }));
        notify("Secret stored");
      }}
    >
      <SecretFields of={setup} />
      {setup.hasSecret && (
        <p class="quiet">
          Of the secrets stored before, the one that verified a delivery last stays accepted.
        </p>
      )}
    </Form>
  );
}

function Details({ setup: { provider, signature, file, checkedWith } }: Parts) {
  return (
    <section class="panel" aria-labelledby="details">
      <h2 id="details">Details</h2>
      <Facts
        of={[
          ["Name", <Mono of={provider} />],
          ["Signature", signature],
          ["File", file === null ? "Built in" : <Mono of={file} />],
          ["Checked with", checkedWith],
        ]}
      />
    </section>
  );
}
