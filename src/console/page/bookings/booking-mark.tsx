import type { PaymentState } from "../../../booking/model/booking-words.ts";
import { type Of, words } from "../kit/text.tsx";
import { Mark } from "../kit/ui.tsx";
import type { BookingStatus } from "../kit/wire.ts";

/** Each status has a shape of its own, so that a list can be scanned without telling red from green. */
const glyphs: Readonly<Record<BookingStatus, string>> = {
  held: "…",
  confirmed: "✓",
  cancelled: "✕",
  expired: "–",
  flown: "↗",
};

export function BookingMark({ of: status }: Of<BookingStatus>) {
  return <Mark look={`is-${status}`} glyph={glyphs[status]} label={words(status)} />;
}

const payments: Readonly<Record<PaymentState, readonly [glyph: string, look: string]>> = {
  unpaid: ["…", "is-held"],
  paid: ["✓", "is-confirmed"],
  "at-booking": ["○", "none"],
  "refund-due": ["↩", "retrying"],
  refunded: ["↩", "none"],
};

interface PaymentParts extends Of<PaymentState> {
  readonly status: BookingStatus;
  /** What is to be refunded. */
  readonly due?: string | undefined;
}

/** How the payment stands. A hold that has ended no longer waits for it. */
export function PaymentMark({ of: state, status, due }: PaymentParts) {
  if (state === "unpaid" && status !== "held") {
    return <Mark look="is-expired" glyph="–" label="Unpaid" />;
  }
  const [glyph, look] = payments[state];
  const label = state === "unpaid" ? "Waiting" : words(state);
  return <Mark look={look} glyph={glyph} label={due === undefined ? label : `${due} due`} />;
}
