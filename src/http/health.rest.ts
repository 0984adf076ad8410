import { Elysia } from "elysia";

import { AppError } from "../errors.ts";
import type { Metrics } from "../metrics.ts";

interface Parts {
  readonly version: string;
  readonly providers: readonly string[];
  readonly metrics: Metrics;
  /** Why the service cannot take traffic now; null when it can. */
  readonly unready: () => Promise<string | null>;
}

/** What load balancers, monitors and curious people ask first. Public, and tells no secret. */
export const healthRest = ({ version, providers, metrics, unready }: Parts) =>
  new Elysia({ name: "health" })
    .get("/", () => ({
      service: "skyhook",
      version,
      status: "ok",
      uptimeSeconds: Math.floor(process.uptime()),
      webhooks: { endpoint: "/webhooks/:provider", providers },
    }))
    .get("/livez", () => ({ status: "ok" }))
    .get("/readyz", async () => {
      const reason = await unready();
      if (reason !== null) throw new AppError("unavailable", reason, { retryAfterSeconds: 5 });
      return { status: "ok" };
    })
    .get("/metrics", async ({ set }) => {
      set.headers["content-type"] = metrics.contentType;
      return metrics.scrape();
    });
