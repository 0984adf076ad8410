import { counted, type Of } from "../kit/text.tsx";
import { Badge, type Tone } from "../kit/ui.tsx";
import type { DestinationDetail } from "../kit/wire.ts";

type Health = DestinationDetail["health"];

/** The state of a destination in one word: its own state first, then its circuit, then its last attempt. */
export function HealthBadge({ of: { state, health } }: Of<DestinationDetail>) {
  const [tone, text] = summaryOf(state, health);
  return <Badge tone={tone}>{text}</Badge>;
}

function summaryOf(state: DestinationDetail["state"], health: Health): readonly [Tone, string] {
  if (state === "disabled") return ["quiet", "Disabled"];
  if (state === "paused") return ["warn", "Paused"];
  if (health.circuit !== "closed") return ["bad", "Suspended"];
  if (health.lastError !== null) return ["warn", "Failing"];
  return ["good", "Active"];
}

/** `98 %`. Never rounds a failure away. */
export function percent(share: number): string {
  return `${Math.floor(share * 100)}\u00a0%`;
}

/** The API counts at most this many. */
const maxCounted = 10_000;

export function countText(count: number): string {
  return `${count.toLocaleString("en")}${count === maxCounted ? " or more" : ""}`;
}

/** `3 waiting, 2 dead` */
export function waitingText({ waiting, dead }: Health): string {
  const parts = [
    waiting > 0 ? `${countText(waiting)} waiting` : null,
    dead > 0 ? `${countText(dead)} dead` : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? "Queue empty" : parts.join(", ");
}

const barWidth = 3;
const maxBars = 20;

/** The last attempts as bars, the newest at the right: tall for a failed one, so that colour is not needed. */
export function Outcomes({ of: { outcomes } }: Of<Health>) {
  if (outcomes.length === 0) return null;
  const shown = outcomes.slice(0, maxBars).toReversed();
  const failed = shown.filter((delivered) => !delivered).length;
  const label = `${counted(failed, "failure")} in the last ${counted(shown.length, "attempt")}`;
  return (
    <svg
      class="outcomes"
      role="img"
      aria-label={label}
      width={maxBars * barWidth}
      height="14"
      viewBox={`0 0 ${maxBars * barWidth} 14`}
    >
      {shown.map((delivered, index) => (
        <rect
          key={index}
          class={delivered ? "delivered" : "failed"}
          x={(maxBars - shown.length + index) * barWidth}
          y={delivered ? 7 : 0}
          width={barWidth - 1}
          height={delivered ? 7 : 14}
        />
      ))}
    </svg>
  );
}
