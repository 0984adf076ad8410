import { useState } from "preact/hooks";

import { callApi } from "../kit/api.ts";
import { CopyButton } from "../kit/copy.tsx";
import { Body, Headers } from "../kit/event/body.tsx";
import { curlOf } from "../kit/event/curl.ts";
import { Fields, Form, valuesIn } from "../kit/form.tsx";
import { LoadedDetail } from "../kit/layout.tsx";
import { useLoad } from "../kit/load.ts";
import { isAdmin } from "../kit/session.ts";
import { counted, Mono, type Of, Text, words } from "../kit/text.tsx";
import { ExactTime, Time } from "../kit/time.tsx";
import { Badge, Facts, Source } from "../kit/ui.tsx";
import type { RejectionDetail } from "../kit/wire.ts";

/** A rejected delivery: why it failed verification, then what was received. */
export function RejectionPane({ id, close }: { readonly id: string; readonly close: string }) {
  const path = `v1/rejections/${encodeURIComponent(id)}`;
  const loaded = useLoad<RejectionDetail>(path);
  return (
    <LoadedDetail label="Rejected delivery" close={close} of={loaded}>
      {(rejection) => <Explained rejection={rejection} explainAgain={loaded.reload} />}
    </LoadedDetail>
  );
}

/** The response statuses of rejections that are not signature errors. */
const statuses: Readonly<Partial<Record<RejectionDetail["reason"], number>>> = {
  "body-too-large": 413,
  "too-many-items": 413,
  "unsupported-encoding": 415,
  "unknown-provider": 404,
};

interface Parts {
  readonly rejection: RejectionDetail;
  readonly explainAgain: () => void;
}

function Explained({ rejection, explainAgain }: Parts) {
  const { provider, headers, body, bodyEncoding, explanation } = rejection;
  const status = statuses[rejection.reason] ?? 401;
  return (
    <article>
      <header>
        <h2>{words(rejection.reason)}</h2>
        <p class="under">
          <Badge tone="bad">Rejected</Badge> <Source of={provider} />{" "}
          <Time at={rejection.createdAt} />
        </p>
        <div class="actions">
          {body !== null && (
            <CopyButton
              label="Copy as cURL"
              text={() => curlOf(location.origin, { provider, headers, body, bodyEncoding })}
            />
          )}
          <CopyButton label="Copy ID" text={() => rejection.id} />
        </div>
      </header>
      <div class={explanation.cause === "unknown" ? "explanation unknown" : "explanation"}>
        <h3>Why it was rejected</h3>
        <Findings of={explanation} />
        {status === 401 && body !== null && isAdmin() && <TrySecret id={rejection.id} />}
        <p class="quiet">
          {/* For an unknown cause the sentence above says so. */}
          {explanation.cause !== "unknown" && <code>{explanation.cause}</code>}{" "}
          <button type="button" class="link" onClick={explainAgain}>
            Check again with the current secrets
          </button>
        </p>
      </div>
      <ol class="timeline">
        <li class="step">
          <h3>Received</h3>
          <Facts
            of={[
              ["Received", <ExactTime at={rejection.createdAt} />],
              ["IP address", <Mono of={rejection.address} />],
              ["Size", counted(rejection.bodyBytes, "byte")],
              ["Reason", <code>{rejection.reason}</code>],
              ["Signature header", <Signatures names={rejection.signatureHeaders} />],
              ["Request ID", <Mono of={rejection.requestId} />],
            ]}
          />
          <Headers of={headers} />
          {body === null ? (
            <p class="quiet">The body was not stored, or its retention period is over.</p>
          ) : (
            <Body of={{ body, bodyEncoding }} />
          )}
        </li>
        <li class="step">
          <h3>Responded {status}</h3>
          <p class="quiet">
            {status === 401 && "The response says only that the signature is invalid. "}No event was
            stored.
          </p>
        </li>
      </ol>
    </article>
  );
}

/** The cause in a sentence or, if none was found, what was tried and what to check next. */
function Findings({ of: { detail, checklist } }: Of<RejectionDetail["explanation"]>) {
  if (checklist === undefined) {
    return (
      <p>
        <Text of={detail} />
      </p>
    );
  }
  return (
    <>
      <p>{checklist.finding}</p>
      <ul class="checklist">
        {checklist.nextSteps.map((step) => (
          <li key={step} class="next">
            <span class="glyph" aria-hidden="true">
              →
            </span>
            <span>{words(step)}</span>
          </li>
        ))}
        {checklist.ruledOut.map((cause) => (
          <li key={cause}>
            <span class="glyph" aria-hidden="true">
              ✓
            </span>
            <span>
              <span class="quiet">Ruled out:</span> {cause}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

const secretFields = {
  secret: {
    type: "text",
    label: "Secret",
    hint: "It is compared, and neither stored nor logged.",
    isSecret: true,
  },
} as const;

/** Whether the signature is right, if only it did not come late. */
const isSignedWith = ({ cause }: RejectionDetail["explanation"]) =>
  cause === "verifies-now" || cause === "stale-timestamp";

/** Checks the stored bytes with a secret that is not the configured one. */
function TrySecret({ id }: { readonly id: string }) {
  const [tried, setTried] = useState<readonly RejectionDetail["explanation"][]>([]);
  const found = tried.at(-1);
  return (
    <details>
      <summary>Try another secret</summary>
      <Form
        // A form is sent once.
        key={tried.length}
        submit={["Try this secret", "Trying…"]}
        shows={["secret"]}
        send={async (values) => {
          const body = valuesIn(values, secretFields);
          const path = `v1/rejections/${encodeURIComponent(id)}/try-secret`;
          const answer = await callApi<RejectionDetail["explanation"]>(path, {
            method: "POST",
            body,
          });
          setTried((before) => [...before, answer]);
        }}
      >
        <Fields of={secretFields} />
        {found !== undefined && (
          <p role="status">
            {isSignedWith(found) ? (
              <Badge tone="good">Matches</Badge>
            ) : (
              <Badge tone="bad">Does not match</Badge>
            )}{" "}
            <Text of={found.detail} />
          </p>
        )}
      </Form>
    </details>
  );
}

function Signatures({ names }: { readonly names: readonly string[] }) {
  return names.length === 0 ? <>None</> : <Mono of={names.join(", ")} />;
}
