// Without this reference, projects that import our types would not find these declarations, because a file
// of declarations only cannot be imported.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./prom-client.d.ts" />
import Counter from "prom-client/lib/counter.js";
import Gauge from "prom-client/lib/gauge.js";
import Histogram from "prom-client/lib/histogram.js";
import Registry from "prom-client/lib/registry.js";

/** The metrics of this process. Each feature registers its own, in its `<feature>-metrics.ts`. */
export type Metrics = ReturnType<typeof createMetrics>;

/**
 * The definition of a metric. Names and units follow Prometheus' conventions. Each label has a bounded set of
 * values, so that clients cannot create time series.
 */
interface Definition<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
}

export function createMetrics() {
  const registry = new Registry();
  const refreshers: (() => void | Promise<void>)[] = [];
  /** The scrape in progress; null without one. */
  let scraping: Promise<string> | null = null;
  const about = <Label extends string>({ name, help, labels = [] }: Definition<Label>) => ({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
  });

  async function refreshed(): Promise<string> {
    for (const refresh of refreshers) await refresh();
    return registry.metrics();
  }

  return {
    counter: <Label extends string = never>(definition: Definition<Label>) =>
      new Counter<Label>(about(definition)),
    gauge: <Label extends string = never>(definition: Definition<Label>) =>
      new Gauge<Label>(about(definition)),
    /** `buckets` are upper bounds in ascending order. */
    histogram: <Label extends string = never>(
      definition: Definition<Label> & { readonly buckets: readonly number[] },
    ) => new Histogram<Label>({ ...about(definition), buckets: [...definition.buckets] }),
    /** Runs `refresh` before each scrape, to update gauges. It must not throw. */
    onScrape(refresh: () => void | Promise<void>): void {
      refreshers.push(refresh);
    },
    /**
     * Returns all metrics in Prometheus' text format, version 0.0.4. Concurrent scrapes share one result, because
     * anyone may scrape and a refresh reads the database.
     */
    scrape(): Promise<string> {
      scraping ??= refreshed().finally(() => (scraping = null));
      return scraping;
    },
    contentType: registry.contentType,
  };
}

/** Removes the gauge if the value is unknown, so that it does not report an outdated value. */
export function setOrRemove(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}
