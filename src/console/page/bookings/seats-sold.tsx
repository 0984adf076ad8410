import type { Of } from "../kit/text.tsx";

interface Load {
  readonly seats: number;
  readonly sold: number;
}

/** Seats sold, as a bar and as a share. */
export function SeatsSold({ of: { sold, seats } }: Of<Load>) {
  return (
    <span class="share">
      <span class="meter" aria-hidden="true">
        <span style={{ width: `${seats === 0 ? 0 : Math.min(1, sold / seats) * 100}%` }} />
      </span>
      <span class="number">{percentSold({ sold, seats })}</span>
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
