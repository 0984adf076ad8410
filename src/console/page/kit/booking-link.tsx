import type { ComponentChildren } from "preact";

import { writeRoute } from "./route.ts";
import { isAdmin } from "./session.ts";
import { type Of, Text } from "./text.tsx";

const bookingId = /bk_[0-9a-f]{32}\b/;

/** The text of an event, with a link to the booking that it names. For admins: others cannot open bookings. */
export function WithBooking({ of: text }: Of<string>): ComponentChildren {
  const id = bookingId.exec(text);
  if (id === null || !isAdmin()) return <Text of={text} />;
  return (
    <>
      <Text of={text.slice(0, id.index)} />
      <a class="mono" href={writeRoute("bookings", id[0])}>
        {id[0]}
      </a>
      <Text of={text.slice(id.index + id[0].length)} />
    </>
  );
}

/** What a payment event changed in a booking, or why nothing. */
export function Effect({ of: effect }: Of<string>) {
  // The payload named it: a link would lead nowhere.
  const isUnknown = effect.startsWith("no effect: there is no booking ");
  return (
    <li class="step">
      <h3>Effect on the booking</h3>
      <p>{isUnknown ? <Text of={effect} /> : <WithBooking of={effect} />}</p>
    </li>
  );
}
