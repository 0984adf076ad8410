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
