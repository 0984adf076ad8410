import { useEffect, useRef } from "preact/hooks";

import { useLoad } from "../kit/load.ts";
import { writeRoute } from "../kit/route.ts";
import { type Of, Text } from "../kit/text.tsx";
import { Time } from "../kit/time.tsx";
import { Mark, Waiting } from "../kit/ui.tsx";
import type { Page, Replay, ReplayFailure } from "../kit/wire.ts";

import { doneOf, outcomes } from "./replay-parts.tsx";

const tones = {
  resent: "retrying",
  notified: "is-confirmed",
  silent: "none",
  deleted: "none",
  failed: "dead",
} as const;

/** What became of the events, and those that failed. */
export function Outcomes({ of: replay }: Of<Replay>) {
  const { status, total, changed, failed } = replay;
  const missing = status === "finished" ? Math.max(0, total - doneOf(replay)) : 0;
  return (
    <section aria-labelledby="outcomes">
      <h3 id="outcomes">Outcomes</h3>
      <table class="outcomes-of-replay">
        <thead>
          <tr>
            <th scope="col">Outcome</th>
            <th scope="col" class="number">
              Events
            </th>
          </tr>
        </thead>
        <tbody>
          {outcomes.map(([name, glyph, label, meaning]) => (
            <tr key={name} data-outcome={name}>
              <th scope="row">
                <Mark
                  look={replay[name] === 0 ? "none" : tones[name]}
                  glyph={glyph}
                  label={label}
                />
                <p class="quiet">{meaning}</p>
              </th>
              <td class="number">{replay[name].toLocaleString("en")}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {missing > 0 && (
        <p class="quiet">
          {missing.toLocaleString("en")} more matched at the start, but no longer when their turn
          came.
        </p>
      )}
      <p data-outcome="changed">
        {changed === 0
          ? "None is interpreted differently than before."
          : `${changed.toLocaleString("en")} of them ${changed === 1 ? "is" : "are"} interpreted differently than before.`}
      </p>
      {failed > 0 && <Failures of={replay} />}
    </section>
  );
}

const shown = 100;

/** Links to the events that failed, with the reason. */
function Failures({ of: { id, failed } }: Of<Replay>) {
  const path = `v1/replays/${encodeURIComponent(id)}/failures?limit=${shown}`;
  const loaded = useLoad<Page<ReplayFailure>>(path, { keep: true });
  const { value } = loaded;
  /** How many had failed when the list was requested. */
  const requestedAt = useRef(failed);
  useEffect(() => {
    // Also when the first response arrives: events may have failed since its request.
    if (value === null || requestedAt.current === failed) return;
    requestedAt.current = failed;
    loaded.reload();
  }, [value, failed]);
  return (
    <section class="failures" aria-labelledby="failures">
      <h3 id="failures">Failed events</h3>
      <Waiting for={loaded} what="failed events" />
      {value !== null && (
        <ul class="lines">
          {value.data.map((failure) => (
            <li key={failure.id}>
              <a class="mono" href={writeRoute("events", failure.id)}>
                {failure.id}
              </a>
              <Time at={failure.createdAt} />
              <p class="why error">
                <Text of={failure.error} />
              </p>
            </li>
          ))}
        </ul>
      )}
      {value?.pagination.hasMore === true && (
        <p class="quiet">
          The last {shown} are shown. <code>GET /{path.replace(/\?.*/, "")}</code> returns the
          others.
        </p>
      )}
    </section>
  );
}
