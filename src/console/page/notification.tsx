import { useEffect, useRef } from "preact/hooks";

import { counted, OutsideLink, Text } from "./text.tsx";
import { ExactTime, Time } from "./time.tsx";
import { Badge, Status, Wide } from "./ui.tsx";
import type { NotificationDetail } from "./wire.ts";

interface Parts {
  readonly of: NotificationDetail;
  /** Its place among those of the event; null where it is the only one. */
  readonly number: number | null;
  /** Whether a replay made it. One may also send an old one again, under its own id. */
  readonly isAgain: boolean;
  /** Other than before when it was just sent again: then it is brought into sight. */
  readonly resent: object | null;
}

/** One message to operators, with every try to deliver it. */
export function NotificationStep({ of: told, number, isAgain, resent }: Parts) {
  const place = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (resent !== null) place.current?.scrollIntoView({ block: "center" });
  }, [resent]);
  return (
    <li class={resent === null ? "step" : "step fresh"} ref={place}>
      <h3>
        Notification{number !== null && ` ${number}`}
        {(isAgain || told.attempts.length > told.attemptCount) && ", sent again"}{" "}
        <Status of={told.status} />
      </h3>
      <p>
        <strong>
          <Text of={told.title} />
        </strong>
        {told.severity !== "info" && (
          <>
            {" "}
            <Status of={told.severity} />
          </>
        )}
      </p>
      {told.text !== "" && (
        <p>
          <Text of={told.text} />
        </p>
      )}
      {told.url !== null && (
        <p>
          <OutsideLink to={told.url} />
        </p>
      )}
      <p class="quiet">
        <ExactTime at={told.createdAt} /> <Outcome of={told} />
      </p>
      {told.attempts.length > 0 && <Attempts of={told} />}
    </li>
  );
}

function Outcome({ of: told }: { readonly of: NotificationDetail }) {
  if (told.status === "dead")
    return <>Given up after {counted(told.attemptCount, "try", "tries")}. Replay sends it again.</>;
  if (told.dueAt !== null) {
    return (
      <>
        {told.attempts.length === 0 ? "First" : "Next"} try <Time at={told.dueAt} />
      </>
    );
  }
  if (told.attempts.length === 0) return <>On the feed and in the log; no gateway is set</>;
  return null;
}

function Attempts({ of: { attempts } }: { readonly of: NotificationDetail }) {
  return (
    <Wide label="Tries">
      <table>
        <thead>
          <tr>
            <th>Try</th>
            <th>At</th>
            <th>Answer</th>
            <th>Took</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((attempt, index) => (
            <tr key={attempt.startedAt}>
              <td>{index + 1}</td>
              <td>
                <Time at={attempt.startedAt} />
              </td>
              <td>
                <Badge tone={attempt.delivered ? "good" : "bad"}>
                  {attempt.responseStatus ?? "no answer"}
                </Badge>{" "}
                {attempt.error !== null && <Text of={attempt.error} />}
              </td>
              <td class="number">{attempt.durationMs.toLocaleString("en")} ms</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
