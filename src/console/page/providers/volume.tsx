import type { Of } from "../kit/text.tsx";
import type { Deliveries, Provider } from "../kit/wire.ts";

const barWidth = 5;
const heightPx = 18;

/** Those that Skyhook did not take. */
const failing: readonly string[] = ["rejected", "limited", "unavailable", "unreadable"];

interface Parts extends Of<Deliveries> {
  readonly provider: Provider["provider"];
}

/** The deliveries of a provider over time, as bars, and their number. What failed is red, and counted in words. */
export function Volume({ of: { series }, provider }: Parts) {
  const own = series.filter((each) => each.provider === provider);
  const steps = own[0]?.counts.map((_, step) => ({
    taken: sum(own, step, (verdict) => !failing.includes(verdict)),
    failed: sum(own, step, (verdict) => failing.includes(verdict)),
  }));
  if (steps === undefined) return <>None</>;
  const highest = Math.max(...steps.map(({ taken, failed }) => taken + failed));
  const heightOf = (count: number) =>
    count === 0 ? 0 : Math.max(2, Math.round((count / highest) * heightPx));
  const total = (which: "taken" | "failed") => steps.reduce((all, step) => all + step[which], 0);
  const failed = total("failed");
  return (
    <>
      <svg class="outcomes" aria-hidden="true" width={steps.length * barWidth} height={heightPx}>
        {steps.map((step, index) => {
          const [tall, red] = [heightOf(step.taken + step.failed), heightOf(step.failed)];
          const common = { x: index * barWidth, width: barWidth - 1 };
          return (
            <g key={index}>
              <rect {...common} class="delivered" y={heightPx - tall} height={tall} />
              <rect {...common} class="failed" y={heightPx - red} height={red} />
            </g>
          );
        })}
      </svg>{" "}
      {(total("taken") + failed).toLocaleString("en")}
      {failed > 0 && `, ${failed.toLocaleString("en")} failed`}
    </>
  );
}

function sum(
  series: Deliveries["series"],
  step: number,
  isMeant: (verdict: string) => boolean,
): number {
  return series.reduce(
    (all, { verdict, counts }) => all + (isMeant(verdict) ? (counts[step] ?? 0) : 0),
    0,
  );
}
