import { useState } from "preact/hooks";

import { isSigned } from "../../../outbound/formats/formats.ts";
import { attempt, Confirmed, useAction } from "../action.tsx";
import { callApi } from "../api.ts";
import { CopyButton } from "../copy.tsx";
import { milliseconds } from "../durations.ts";
import { type Of, Text } from "../text.tsx";
import { Badge, notify } from "../ui.tsx";
import type { Destination, DestinationDetail, DestinationSecret, TestOutcome } from "../wire.ts";

interface Parts {
  readonly destination: DestinationDetail;
  /** The address of the list without the open item. */
  readonly close: string;
  readonly acted: () => void;
  readonly rotated: (destination: DestinationSecret) => void;
  /** Opens the form. */
  readonly edit: () => void;
}

/** The settings of the server define it; its secret and existence cannot be changed here. */
export const operatorGateway = "operator-gateway";

/** The buttons of a destination. One runs at a time. */
export function Actions({ destination, close, acted, rotated, edit }: Parts) {
  const { id, name, state, format } = destination;
  const { isBusy, run: runOnce } = useAction();
  const isOwn = name !== operatorGateway;

  const run = (label: string, work: () => Promise<void>) =>
    runOnce(async () => {
      await attempt(label, work);
      acted();
    });
  const call = <Answer,>(action: string) =>
    callApi<Answer>(`v1/destinations/${encodeURIComponent(id)}/${action}`, { method: "POST" });
  const button = (label: string, work: () => Promise<void>, isMain = false) => (
    <button
      type="button"
      class={isMain ? "primary" : ""}
      // Not `disabled`, which would take the focus from the button.
      aria-disabled={isBusy}
      onClick={() => void run(label, work)}
    >
      {label}
    </button>
  );
  const change = (label: string, action: string, done: string) =>
    button(label, async () => {
      await call<Destination>(action);
      notify(done);
    });

  const [tested, setTested] = useState<TestOutcome | null>(null);
  return (
    <>
      <div class="actions">
        {button("Send test", async () => setTested(await call<TestOutcome>("test")), true)}
        <button type="button" onClick={edit}>
          Edit
        </button>
        {state === "active"
          ? change("Pause", "pause", "Paused. Deliveries are kept.")
          : change("Resume", "resume", "Resumed. Kept deliveries are sent.")}
        {isOwn && isSigned(format) && (
          <Confirmed
            label="Rotate secret"
            title={`Make a new secret for ${name}?`}
            text="The previous secret also signs for 24 hours. The new one is shown once."
            confirm={() =>
              void run("Rotate secret", async () =>
                rotated(await call<DestinationSecret>("rotate")),
              )
            }
          />
        )}
        {state !== "disabled" && (
          <Confirmed
            label="Disable"
            title={`Disable ${name}?`}
            text="Notifications that arrive while it is disabled are never sent to it. To keep them for later, pause it instead."
            confirm={() =>
              void run("Disable", async () => {
                await call<Destination>("disable");
                notify("Disabled. No deliveries are stored.");
              })
            }
          />
        )}
        {isOwn && (
          <Confirmed
            label="Remove"
            title={`Remove ${name}?`}
            text="This also deletes its deliveries, including those that were not sent. It cannot be undone."
            confirm={() =>
              void run("Remove", async () => {
                await callApi(`v1/destinations/${encodeURIComponent(id)}`, { method: "DELETE" });
                notify(`Removed ${name}`);
                location.hash = close;
              })
            }
          />
        )}
        <CopyButton label="Copy ID" text={() => id} />
      </div>
      {tested !== null && <TestResult of={tested} />}
    </>
  );
}

/** Stays until the next test: the reason may take a while to read. */
function TestResult({ of: { delivered, responseStatus, error, durationMs } }: Of<TestOutcome>) {
  const took = milliseconds(durationMs);
  return (
    <p class="test-result" role="status">
      <Badge tone={delivered ? "good" : "bad"}>
        {delivered ? "Test delivered" : "Test not delivered"}
      </Badge>{" "}
      {delivered && responseStatus !== null && `HTTP ${responseStatus}, `}
      {!delivered && (
        <>
          <Text of={error ?? "The destination did not accept it"} />, after{" "}
        </>
      )}
      {took}
    </p>
  );
}
