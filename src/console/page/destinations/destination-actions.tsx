import { useState } from "preact/hooks";

import { isSigned } from "../../../outbound/formats/formats.ts";
import { ActionButton, attempt, Confirmed } from "../kit/action.tsx";
import { callApi } from "../kit/api.ts";
import { CopyButton } from "../kit/copy.tsx";
import { milliseconds } from "../kit/durations.ts";
import { type Of, Text } from "../kit/text.tsx";
import { Badge, notify } from "../kit/ui.tsx";
import type {
  Destination,
  DestinationDetail,
  DestinationSecret,
  TestOutcome,
} from "../kit/wire.ts";

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

/** The buttons of a destination. */
export function Actions({ destination, close, acted, rotated, edit }: Parts) {
  const { id, name, state, format } = destination;
  const isOwn = name !== operatorGateway;

  const path = `v1/destinations/${encodeURIComponent(id)}`;
  const call = <Answer,>(action: string) =>
    callApi<Answer>(`${path}/${action}`, { method: "POST" });
  const button = (label: string, work: () => Promise<void>, isMain = false) => (
    <ActionButton label={label} isMain={isMain} act={() => work().finally(acted)} />
  );
  const change = (label: string, action: string, done: string) =>
    button(label, async () => {
      await call<Destination>(action);
      notify(done);
    });
  const confirmed = (label: string, title: string, text: string, work: () => Promise<void>) => (
    <Confirmed
      label={label}
      title={title}
      text={text}
      confirm={() => void attempt(label, work).then(acted)}
    />
  );

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
        {isOwn &&
          isSigned(format) &&
          confirmed(
            "Rotate secret",
            `Make a new secret for ${name}?`,
            "The previous secret also signs for 24 hours. The new one is shown once.",
            async () => rotated(await call<DestinationSecret>("rotate")),
          )}
        {state !== "disabled" &&
          confirmed(
            "Disable",
            `Disable ${name}?`,
            "Notifications that arrive while it is disabled are never sent to it. To keep them for later, pause it instead.",
            async () => {
              await call<Destination>("disable");
              notify("Disabled. No deliveries are stored.");
            },
          )}
        {isOwn &&
          confirmed(
            "Remove",
            `Remove ${name}?`,
            "This also deletes its deliveries, including those that were not sent. It cannot be undone.",
            async () => {
              await callApi(path, { method: "DELETE" });
              notify(`Removed ${name}`);
              location.hash = close;
            },
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
