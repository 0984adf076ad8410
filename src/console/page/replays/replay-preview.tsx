import { type ComponentChildren, Fragment } from "preact";

import { writeRoute } from "../kit/route.ts";
import { counted, Mono, type Of, Text } from "../kit/text.tsx";
import { Time } from "../kit/time.tsx";
import { Source } from "../kit/ui.tsx";
import type { ReplayPreview } from "../kit/wire.ts";

interface SummaryParts extends Of<ReplayPreview> {
  readonly children: ComponentChildren;
}

/** How many events would be replayed, and of how many the stored form changes. */
export function Summary({ of: preview, children }: SummaryParts) {
  const { total, delivered, compared, differing, filters } = preview;
  const left = filters.onlyUndelivered === true ? delivered : 0;
  return (
    <section class="dry-run" aria-labelledby="dry-run">
      <h3 id="dry-run">Dry run</h3>
      <p role="status">
        <strong>{counted(total, "event")}</strong> would be replayed.{" "}
        {left > 0 && `${left} more ${left === 1 ? "was" : "were"} delivered already. `}
        {compared === 0
          ? null
          : differing === 0
            ? `Nothing changes in the newest ${compared}: this version reads them as they are stored.`
            : `This version reads ${differing} of the newest ${compared} differently than they are stored.`}
      </p>
      {compared > 0 && <Repeated of={preview} />}
      {children}
    </section>
  );
}

/** Who is notified of events a second time. */
function Repeated({ of: { total, compared, repeated, repeatedTo } }: Of<ReplayPreview>) {
  const which = total > compared ? `Of the newest ${compared}, ` : "Of these, ";
  if (repeated === 0) return <p>{which}none is sent to anyone who has received it already.</p>;
  return (
    <p class="repeated">
      {which}
      <strong>
        {repeated} {repeated === 1 ? "was" : "were"} delivered already
      </strong>{" "}
      and {repeated === 1 ? "is" : "are"} sent a second time
      {repeatedTo.length > 0 && ": "}
      {repeatedTo.map(({ destinationId, destination, events }, at) => (
        <Fragment key={destinationId}>
          {at > 0 && ", "}
          {events} to{" "}
          <a href={writeRoute("destinations", destinationId)}>
            <Text of={destination} />
          </a>
        </Fragment>
      ))}
      .
    </p>
  );
}

/** Some of the events, to recognise them by. */
export function Samples({ of: { total, newest } }: Of<ReplayPreview>) {
  return (
    <section aria-labelledby="samples">
      <h3 id="samples">{total > newest.length ? `The newest ${newest.length}` : "Events"}</h3>
      <ul class="lines samples">
        {newest.map(({ id, provider, title, createdAt }) => (
          <li key={id}>
            <Source of={provider} isShort />
            <a href={writeRoute("events", id)} target="_blank">
              <Text of={title} />
            </a>
            <Time at={createdAt} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What changes, event by event and field by field. */
export function Differences({ of: { differing, examples } }: Of<ReplayPreview>) {
  if (examples.length === 0) return null;
  const isPart = differing > examples.length;
  return (
    <section aria-labelledby="differences">
      <h3 id="differences">What changes</h3>
      {isPart && <p class="quiet">The newest {examples.length} of these events:</p>}
      <ul class="differences">
        {examples.map((example) => (
          <Difference key={example.id} of={example} />
        ))}
      </ul>
    </section>
  );
}

function Difference({
  of: { id, provider, type, changes },
}: Of<ReplayPreview["examples"][number]>) {
  return (
    <li>
      <p class="under">
        <Source of={provider} isShort />
        <a href={writeRoute("events", id)} target="_blank">
          <Text of={type} />
        </a>
        <Mono of={id} />
      </p>
      <table aria-label={`Changes of ${id}`}>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Stored</th>
            <th scope="col">Now</th>
          </tr>
        </thead>
        <tbody>
          {changes.map(({ field, stored, now }) => (
            <tr key={field}>
              <th scope="row" class="mono">
                <Text of={field} />
              </th>
              <Value of={stored} sign="−" />
              <Value of={now} sign="+" />
            </tr>
          ))}
        </tbody>
      </table>
    </li>
  );
}

/** A sign as in a diff, beside the colour. */
function Value({ of: value, sign }: { readonly of: string | null; readonly sign: "−" | "+" }) {
  if (value === null) return <td class="quiet">not set</td>;
  return (
    <td class={sign === "+" ? "value added" : "value removed"}>
      <span aria-hidden="true">{sign} </span>
      <Text of={value} />
    </td>
  );
}
