import type { TraceContext } from "./trace-context.ts";

/** The standard names of ways to choose which traces are recorded (`OTEL_TRACES_SAMPLER`). */
export const samplerNames = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
export type SamplerName = (typeof samplerNames)[number];

/** Whether a span is recorded, by its parent and the id of its trace. */
export type Sampler = (parent: TraceContext | null, traceId: string) => boolean;

/** `ratio`: the part of traces to record, from 0 to 1, where the name speaks of one. */
export function samplerOf(name: SamplerName, ratio: number): Sampler {
  const rootName = name.replace("parentbased_", "");
  const root: Sampler =
    rootName === "traceidratio"
      ? (_, traceId) => fractionOf(traceId) < ratio
      : () => rootName === "always_on";
  if (rootName === name) return root;
  return (parent, traceId) => parent?.sampled ?? root(null, traceId);
}

/** In [0, 1), by the part of the id that every maker of ids fills at random: equal on all hops. */
function fractionOf(traceId: string): number {
  return Number.parseInt(traceId.slice(-13), 16) / 2 ** 52;
}
