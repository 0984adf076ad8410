import type { Metric } from "prom-client";
import type Registry from "prom-client/lib/registry.js";

/** The labels that tell one series of a metric from the others. */
type Labels = Readonly<Record<string, string>>;

interface About {
  readonly name: string;
  readonly help: string;
}

/** One series of a counter. */
export interface Count {
  inc(): void;
}

/** One series of a histogram. */
export interface Distribution {
  observe(value: number): void;
}

interface Sample {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/**
 * Makes the series of a counter. prom-client looks a series up by a text made of its labels, at every
 * increment, also where it has handed out an object for them. That costs more than all else that is
 * counted of a request; a series of ours is a number that only a scrape reads.
 */
export function counterSeries(registry: Registry, about: About): (labels: Labels) => Count {
  const samples: (() => Sample)[] = [];
  register(registry, about, "counter", () => samples.map((sample) => sample()));
  return (labels) => {
    let value = 0;
    samples.push(() => ({ metricName: about.name, labels, value }));
    return {
      inc() {
        value += 1;
      },
    };
  };
}

/** Makes the series of a histogram. `buckets`: upper bounds, rising. */
export function histogramSeries(
  registry: Registry,
  about: About,
  buckets: readonly number[],
): (labels: Labels) => Distribution {
  const samples: (() => readonly Sample[])[] = [];
  register(registry, about, "histogram", () => samples.flatMap((sample) => sample()));
  return (labels) => {
    /** How many fell into each bucket alone; the last is for all beyond. */
    const counts = Array.from({ length: buckets.length + 1 }, () => 0);
    let sum = 0;
    samples.push(() => samplesOf(about.name, labels, buckets, counts, sum));
    return {
      observe(value) {
        let bucket = 0;
        while (value > (buckets[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
        counts[bucket] = (counts[bucket] ?? 0) + 1;
        sum += value;
      },
    };
  };
}

/** In the text format a bucket counts all below its bound. */
function samplesOf(
  name: string,
  labels: Labels,
  buckets: readonly number[],
  counts: readonly number[],
  sum: number,
): readonly Sample[] {
  let count = 0;
  const cumulative = counts.map((inBucket, index) => ({
    metricName: `${name}_bucket`,
    labels: { ...labels, le: buckets[index] ?? "+Inf" },
    value: (count += inBucket),
  }));
  return [
    ...cumulative,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

function register(
  registry: Registry,
  about: About,
  type: "counter" | "histogram",
  values: () => readonly Sample[],
): void {
  const metric = { ...about, get: () => Promise.resolve({ ...about, type, values: values() }) };
  // Guarantee: for a scrape the registry reads the name and calls `get`, and uses of its answer what
  // is there: name, help, type and values. The test of the text format runs through it.
  registry.registerMetric(metric as unknown as Metric);
}
