import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";

import type { AppError } from "../../base/errors.ts";
import { apiVersion, version } from "../../base/version.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { prefersHtml } from "../accept.ts";
import type { Asset } from "../asset.ts";
import { count, listOf, resource, text, word } from "../schema.ts";

import { problemReferences } from "./problem.schema.ts";

interface Parts {
  /** Shown to browsers in place of the service description. */
  readonly home: Asset;
  readonly providers: () => readonly string[];
  readonly metrics: Metrics;
  /** Why the service cannot take traffic now; null when it can. */
  readonly unready: () => Promise<AppError | null>;
}

/** The service description, health checks and metrics. Public, without confidential data. */
export const healthRest = ({ home, providers, metrics, unready }: Parts) =>
  new Elysia({ name: "health" })
    .get(
      "/",
      (): ServiceStatus => ({
        service: "skyhook",
        version,
        apiVersion,
        status: "ok",
        uptimeSeconds: Math.floor(process.uptime()),
        webhooks: { endpoint: "/webhooks/:provider", providers: providers() },
      }),
      {
        beforeHandle({ request, set }) {
          // Beside the `Origin` that `cors` may have set.
          set.headers["vary"] = [set.headers["vary"] ?? [], "Accept"].flat().join(", ");
          return prefersHtml(request.headers.get("accept")) ? home(request) : undefined;
        },
        detail: {
          operationId: "getService",
          tags: ["Service"],
          summary: "Describe the service and list its webhook providers",
          responses: serviceResponses(),
        },
      },
    )
    .get("/livez", () => ok, {
      detail: {
        operationId: "getLiveness",
        tags: ["Service"],
        summary: "Check that the process runs",
        responses: documentedResponses("Health", "The process runs."),
      },
    })
    .get(
      "/readyz",
      async () => {
        const error = await unready();
        if (error !== null) throw error;
        return ok;
      },
      {
        detail: {
          operationId: "getReadiness",
          tags: ["Service"],
          summary: "Check that the service accepts traffic",
          description:
            "503 while the service starts or drains, and if the database is not writable.",
          responses: documentedResponses("Health", "The service accepts traffic."),
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
          summary: "Read the metrics for Prometheus",
          responses: {
            200: {
              description: "The Prometheus text format.",
              content: { "text/plain": { schema: { type: "string" } } },
            },
            ...problemReferences(),
          },
        },
      },
    );

const ok: Health = { status: "ok" };

/** A browser receives a page instead. */
function serviceResponses() {
  const { 200: json, ...problems } = documentedResponses(
    "ServiceStatus",
    "The service description.",
  );
  const content = { ...json.content, "text/html": { schema: { type: "string" as const } } };
  return { 200: { ...json, content }, ...problems };
}

/**
 * Documented only, not validated: compiling a schema on its first response would slow the first requests
 * after a start.
 */
function documentedResponses(schema: string, description: string) {
  const content = { "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } };
  return { 200: { description, content }, ...problemReferences() };
}

export const healthSchema = resource("Health", "The service works.", {
  status: word(["ok"]),
});

interface Health extends Static<typeof healthSchema> {}

export const serviceStatusSchema = resource("ServiceStatus", "The service description.", {
  service: word(["skyhook"]),
  version: text("The version of Skyhook.", "0.1.0"),
  apiVersion: text("The version of the API.", "1.0.0"),
  status: word(["ok"]),
  uptimeSeconds: count("Whole seconds since the program started.", 3600),
  webhooks: Type.Object(
    {
      endpoint: text("The path that providers send deliveries to.", "/webhooks/:provider"),
      providers: listOf(Type.String(), "The registered providers."),
    },
    { description: "How to deliver webhooks." },
  ),
});

interface ServiceStatus extends Static<typeof serviceStatusSchema> {}
