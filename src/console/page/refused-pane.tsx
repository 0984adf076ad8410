import { Body, Headers } from "./body.tsx";
import { curlOf } from "./curl.ts";
import { Detail } from "./list-pane.tsx";
import { useLoad } from "./load.ts";
import { counted, Text, words } from "./text.tsx";
import { ExactTime, Time } from "./time.tsx";
import { Badge, CopyButton, Facts, Fault, Loading } from "./ui.tsx";
import type { RejectionDetail } from "./wire.ts";

/** A refused delivery: first why, then what came. */
export function RefusedPane({ id, close }: { readonly id: string; readonly close: string }) {
  const path = `v1/rejections/${encodeURIComponent(id)}`;
  const { value: refused, error, reload } = useLoad<RejectionDetail>(path);
  return (
    <Detail label="Refused delivery" close={close}>
      {refused === null && error !== null && <Fault error={error} retry={reload} />}
      {refused === null && error === null && <Loading what="the explanation" />}
      {refused !== null && <Explained refused={refused} explainAgain={reload} />}
    </Detail>
  );
}

interface Parts {
  readonly refused: RejectionDetail;
  readonly explainAgain: () => void;
}

function Explained({ refused, explainAgain }: Parts) {
  const { provider, headers, body, bodyEncoding, explanation } = refused;
  return (
    <article>
      <header>
        <h2>{words(refused.reason)}</h2>
        <p class="under">
          <Badge tone="bad">refused</Badge> <span class="mono">{provider}</span>{" "}
          <Time at={refused.createdAt} />
        </p>
        <div class="actions">
          {body !== null && (
            <CopyButton
              label="Copy as curl"
              text={() => curlOf(location.origin, { provider, headers, body, bodyEncoding })}
            />
          )}
          <CopyButton label="Copy id" text={() => refused.id} />
        </div>
      </header>
      <div class={explanation.cause === "unknown" ? "explanation unknown" : "explanation"}>
        <h3>Why it was refused</h3>
        <p>
          <Text of={explanation.detail} />
        </p>
        <p class="quiet">
          {/* That it is not known stands in the sentence above, in words. */}
          {explanation.cause !== "unknown" && <code>{explanation.cause}</code>}{" "}
          <button type="button" class="link" onClick={explainAgain}>
            Check again with the secrets that are set now
          </button>
        </p>
      </div>
      <ol class="timeline">
        <li class="step">
          <h3>Received</h3>
          <Facts
            of={[
              ["at", <ExactTime at={refused.createdAt} />],
              ["address", <span class="mono">{refused.address}</span>],
              ["size", counted(refused.bodyBytes, "byte")],
              ["reason", <code>{refused.reason}</code>],
              ["signature in", <Signatures names={refused.signatureHeaders} />],
              [
                "request",
                <span class="mono">
                  <Text of={refused.requestId} />
                </span>,
              ],
            ]}
          />
          <Headers of={headers} />
          {body === null ? (
            <p class="quiet">The body was too large to keep, or is forgotten by now.</p>
          ) : (
            <Body of={{ body, bodyEncoding }} />
          )}
        </li>
        <li class="step">
          <h3>Answered 401</h3>
          <p class="quiet">
            The sender was told nothing but that the signature is not valid. Nothing was stored as
            an event.
          </p>
        </li>
      </ol>
    </article>
  );
}

function Signatures({ names }: { readonly names: readonly string[] }) {
  return names.length === 0 ? <>no header</> : <span class="mono">{names.join(", ")}</span>;
}
