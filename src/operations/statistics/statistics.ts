import { type Context, requireOperator } from "../../base/context.ts";
import type { Storage } from "../../db/storage.ts";
import { minuteOf } from "../../inbound/model/webhook-count.ts";
import { countsBySteps } from "../../inbound/model/webhook-counts.sql.ts";
import type { Latency } from "../../inbound/receive/latency.ts";
import type { Backlog } from "../../outbound/model/backlog.ts";

import type { Span } from "./span.ts";
import type { DeliverySeries, DeliveryStatistics, HealthStatistics } from "./statistics.schema.ts";

/** For operators only. */
export interface Statistics {
  deliveries(ctx: Context, span: Span): Promise<DeliveryStatistics>;
  health(ctx: Context): Promise<HealthStatistics>;
}

/** The longest span for steps below an hour, which sum one row per minute. */
export const maxHoursByMinutes = 48;

interface Parts {
  readonly storage: Storage;
  readonly latency: Latency;
  readonly readBacklog: () => Promise<Backlog>;
  readonly version: string;
}

export function statistics({ storage, latency, readBacklog, version }: Parts): Statistics {
  return {
    async deliveries(ctx, { fromMs, toMs, stepSeconds }) {
      requireOperator(ctx);
      const [from, to, stepMinutes] = [minuteOf(fromMs), minuteOf(toMs), stepSeconds / 60];
      const spanMinutes = stepMinutes % 60 === 0 ? 60 : 1;
      const rows = await storage.all(countsBySteps, { spanMinutes, from, to, stepMinutes });
      const points = (to - from) / stepMinutes;
      const series = new Map<string, DeliverySeries & { readonly counts: number[] }>();
      for (const { step, provider, verdict, deliveries } of rows) {
        const key = `${provider} ${verdict}`;
        const found = series.get(key) ?? { provider, verdict, counts: zeros(points) };
        found.counts[step] = deliveries;
        series.set(key, found);
      }
      const sorted = [...series].toSorted(([one], [other]) => (one < other ? -1 : 1));
      return {
        from: new Date(fromMs),
        to: new Date(toMs),
        stepSeconds,
        series: sorted.map(([, each]) => each),
      };
    },
    async health(ctx) {
      requireOperator(ctx);
      const { pending, retrying, dead, oldestMs } = await readBacklog();
      return {
        version,
        uptimeSeconds: Math.floor(process.uptime()),
        database: storage.dialect,
        acknowledgements: latency.read(),
        outbox: {
          pending,
          retrying,
          dead,
          oldestSeconds: oldestMs === null ? null : Math.floor(oldestMs / 1_000),
        },
      };
    },
  };
}

const zeros = (length: number): number[] => Array.from({ length }, () => 0);
