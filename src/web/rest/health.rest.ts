import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";

import type { AppError } from "../../base/errors.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { count, listOf, schemaOf, text, word } from "./schema.ts";
import { apiVersion, version } from "../../base/version.ts";

import { problemReferences } from "./problem.schema.ts";

interface Parts {
  readonly providers: readonly string[];
  readonly metrics: Metrics;
  /** Why the service cannot take traffic now; null when it can. */
  readonly unready: () => Promise<AppError | null>;
}

/** What load balancers, monitors and curious people ask first. Public, and tells no secret. */
export const healthRest = ({ providers, metrics, unready }: Parts) =>
  new Elysia({ name: "health" })
    .get(
      "/",
      (): ServiceStatus => ({
        service: "skyhook",
        version,
        apiVersion,
        status: "ok",
        uptimeSeconds: Math.floor(process.uptime()),
        webhooks: { endpoint: "/webhooks/:provider", providers },
      }),
      {
        detail: {
          operationId: "getService",
          tags: ["Service"],
          summary: "What this is, and which providers may post",
          responses: answers("ServiceStatus", "What this is."),
        },
      },
    )
    .get("/livez", () => ok, {
      detail: {
        operationId: "getLiveness",
        tags: ["Service"],
        summary: "Whether it runs",
        responses: answers("Health", "It runs."),
      },
    })
    .get(
      "/readyz",
      async () => {
        const failure = await unready();
        if (failure !== null) throw failure;
        return ok;
      },
      {
        detail: {
          operationId: "getReadiness",
          tags: ["Service"],
          summary: "Whether it takes traffic",
          description: "503 while it starts or drains, and when the database cannot be written.",
          responses: answers("Health", "It takes traffic."),
        },
      },
    )
    .get(
      "/metrics",
      async ({ set }) => {
        set.headers["content-type"] = metrics.contentType;
        return metrics.scrape();
      },
      {
        detail: {
          operationId: "getMetrics",
          tags: ["Service"],
          summary: "Counters for Prometheus",
          responses: {
            200: {
              description: "Prometheus' text format.",
              content: { "text/plain": { schema: { type: "string" } } },
            },
            ...problemReferences(),
          },
        },
      },
    );

interface Health {
  readonly status: "ok";
}

interface ServiceStatus extends Health {
  readonly service: "skyhook";
  readonly version: string;
  readonly apiVersion: string;
  readonly uptimeSeconds: number;
  readonly webhooks: { readonly endpoint: string; readonly providers: readonly string[] };
}

const ok: Health = { status: "ok" };

/** Only told, never checked: these come first after a start, and a check is compiled at its first answer. */
function answers(schema: string, description: string) {
  const content = { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } };
  return { 200: { description, content }, ...problemReferences() };
}

export const healthSchema = schemaOf<Health>()("Health", "All is well.", { status: word(["ok"]) });

export const serviceStatusSchema = schemaOf<ServiceStatus>()("ServiceStatus", "What this is.", {
  service: word(["skyhook"]),
  version: text("The program's version.", "0.1.0"),
  apiVersion: text("The version of the API.", "1.0.0"),
  status: word(["ok"]),
  uptimeSeconds: count("Whole seconds since the program started.", 3600),
  webhooks: Type.Object(
    {
      endpoint: text("Where providers post.", "/webhooks/:provider"),
      providers: listOf(Type.String(), { description: "Those that are registered." }),
    },
    { description: "Who may post, and where." },
  ),
});
