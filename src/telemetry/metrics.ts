// A project that imports our types does not find the declarations beside them otherwise: no import can
// name a file of declarations only.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./prom-client.d.ts" />
import Counter from "prom-client/lib/counter.js";
import Gauge from "prom-client/lib/gauge.js";
import Histogram from "prom-client/lib/histogram.js";
import Registry from "prom-client/lib/registry.js";

/** The metrics of this process. Each feature registers its own, in its `<feature>-metrics.ts`. */
export type Metrics = ReturnType<typeof createMetrics>;

/**
 * What a metric is. Names and units follow Prometheus' conventions; each label takes its values from a
 * bounded set, so that no caller can create series.
 */
interface Definition<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
}

export function createMetrics() {
  const registry = new Registry();
  const refreshers: (() => void | Promise<void>)[] = [];
  const about = <Label extends string>({ name, help, labels = [] }: Definition<Label>) => ({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
  });

  return {
    counter: <Label extends string = never>(definition: Definition<Label>) =>
      new Counter<Label>(about(definition)),
    gauge: <Label extends string = never>(definition: Definition<Label>) =>
      new Gauge<Label>(about(definition)),
    /** `buckets`: upper bounds, ascending. */
    histogram: <Label extends string = never>(
      definition: Definition<Label> & { readonly buckets: readonly number[] },
    ) => new Histogram<Label>({ ...about(definition), buckets: [...definition.buckets] }),
    /** Runs `refresh` before each scrape, to update gauges. It must not throw. */
    onScrape(refresh: () => void | Promise<void>): void {
      refreshers.push(refresh);
    },
    /** Prometheus' text format, version 0.0.4. */
    async scrape(): Promise<string> {
      for (const refresh of refreshers) await refresh();
      return registry.metrics();
    },
    contentType: registry.contentType,
  };
}

/** Leaves out a value that is unknown: an old one would look as if all were well. */
export function setOrRemove(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}
