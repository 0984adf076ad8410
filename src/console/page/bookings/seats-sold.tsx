import type { Of } from "../kit/text.tsx";
import { Mark } from "../kit/ui.tsx";

interface Load {
  readonly seats: number;
  readonly sold: number;
}

/** Seats sold, as a bar and as a share. */
export function SeatsSold({ of: load }: Of<Load>) {
  return (
    <span class="share">
      <Meter of={load} />
      <span class="number">{percentSold(load)}</span>
    </span>
  );
}

export function Meter({ of: { sold, seats } }: Of<Load>) {
  return (
    <span class="meter" aria-hidden="true">
      <span style={{ width: `${seats === 0 ? 0 : Math.min(1, sold / seats) * 100}%` }} />
    </span>
  );
}

/** `171 of 180` */
export function soldText({ sold, seats }: Load): string {
  return `${sold.toLocaleString("en")} of ${seats.toLocaleString("en")}`;
}

/** `95%`. Only a flight with all seats sold is at 100%, and only one without sales at 0%. */
export function percentSold({ sold, seats }: Load): string {
  if (seats === 0) return "–";
  const percent = Math.round((sold / seats) * 100);
  const isPart = sold > 0 && sold < seats;
  return `${isPart ? Math.min(99, Math.max(1, percent)) : percent}%`;
}

/** Each state has a shape of its own, so that a list can be scanned without telling colours apart. */
const marks = {
  "sold-out": ["●", "Sold out"],
  "part-sold": ["◐", "Part sold"],
  unsold: ["○", "Unsold"],
} as const;

/** `part`: what it says if some seats are sold. */
export function SoldMark({ of: load, part }: Of<Load> & { readonly part?: string }) {
  const state = stateOf(load);
  const [glyph, label] = marks[state];
  const shown = state === "part-sold" ? (part ?? label) : label;
  return <Mark look={`is-${state}`} glyph={glyph} label={shown} />;
}

function stateOf({ sold, seats }: Load): keyof typeof marks {
  if (sold === 0) return "unsold";
  return sold < seats ? "part-sold" : "sold-out";
}
