// It takes some seconds: every sample of every provider is checked against compiled schemas.
import { describe, expect, test } from "bun:test";

import definitions from "@octokit/webhooks-examples";
import addFormats from "ajv-formats";
import Ajv2020 from "ajv/dist/2020";
import { Elysia } from "elysia";

import type { JsonObject } from "../../src/base/payload.ts";
import { eventsOf } from "../../src/events/described-event.ts";
import { schemasOf, webhooksOf } from "../../src/events/event-schemas.ts";
import { catalogue } from "../../src/inbound/providers/catalogue.ts";
import { catalogueFiles } from "../../src/inbound/providers/files/catalogue-files.ts";
import { fileProvider } from "../../src/inbound/providers/files/file-provider.ts";
import { readProviderFile } from "../../src/inbound/providers/files/provider-file.ts";
import { openApiDocument } from "../../src/web/rest/openapi.ts";
import { eventCatalogue } from "../../src/wiring/event-catalogue.ts";
import { json, startApp, until } from "../support/app.ts";
import { addFlight, bookingBody, post } from "../support/flights.ts";
import { testGateway } from "../support/gateway.ts";

/** The keywords of OpenAPI that no JSON Schema has are annotations. */
const ajv = () =>
  addFormats(new Ajv2020({ strict: false, allErrors: true, validateSchema: false }));

/** Validates messages against the OpenAPI document of a server. */
function validatorOf(document: Record<string, unknown>) {
  const known = ajv();
  known.addSchema({ $id: "openapi", ...document });
  const webhooks = Object(document["webhooks"]);
  return (name: string, contentType: string, message: unknown): readonly string[] => {
    const { content } = Object(webhooks[name]).post.requestBody;
    const { $ref } = content[contentType].schema;
    const validate = known.getSchema(`openapi${$ref}`);
    if (validate === undefined) return [`no schema for ${name}`];
    void validate(message);
    return (validate.errors ?? []).map(
      ({ instancePath, message: what }) => `${instancePath} ${what}`,
    );
  };
}

const files = Object.entries(catalogueFiles).map(([id, text]) =>
  fileProvider(id, `${id}.yaml`, readProviderFile(id, text)),
);

const all = [...catalogue, ...files].map(
  (provider) => [provider.id, () => eventsOf(provider)] as const,
);

test.each([...all, ["Skyhook", () => eventCatalogue([])] as const])(
  "every sample of %s fits the schema of its type, in both formats",
  async (_, events) => {
    const described = events();
    expect(described.length).toBeGreaterThan(0);
    const schemas = described.map(schemasOf);
    const faults = validatorOf(await openApiDocument(new Elysia(), [], webhooksOf(described)));
    for (const [index, { name, json: plain, cloudevents }] of schemas.entries()) {
      const { others, event, data } = described[index] ?? { others: [], event: null, data: {} };
      // Nothing is copied that is not defined.
      expect(Object.keys(event?.data ?? {}).filter((field) => !(field in data))).toEqual([]);
      // The schema of the other types describes no sample.
      if (others !== undefined) continue;
      expect([name, faults(name, "application/json", plain.example)]).toEqual([name, []]);
      const type = "application/cloudevents+json";
      expect([name, faults(name, type, cloudevents.example)]).toEqual([name, []]);
    }
  },
);

describe("the OpenAPI document", () => {
  test("describes real messages of all kinds, and what GitHub sends", async () => {
    const gateway = testGateway();
    await using app = await startApp({
      DESTINATIONS_ALLOW_PRIVATE: "true",
      WEBHOOK_RATE_LIMIT: "0",
    });
    const document = await json(await app.fetch("/openapi.json"));
    const faults = validatorOf(document);
    const create = async (name: string, format: string) =>
      json(
        await app.as(
          "admin",
          "/v1/destinations",
          post({ name, format, url: `${gateway.url}${format}`, alerts: format === "json" }),
        ),
      );
    const [plain] = [await create("plain", "json"), await create("events", "cloudevents")];
    const { id: flight } = await addFlight(app, { seats: 900 });
    const sampled = catalogue.flatMap(({ id, samples }) =>
      Object.keys(samples).map((event) => [id, event] as const),
    );
    for (const [provider, event] of sampled) await app.deliverSample(provider, event);
    await app.as("user", "/v1/api/bookings", post(bookingBody(Number(flight))));
    await app.as("admin", `/v1/destinations/${String(plain["id"])}/test`, { method: "POST" });
    for (const { name, examples } of definitions) {
      for (const example of examples) {
        await app.deliver("code_host", JSON.stringify(example), {
          headers: { "x-github-event": name },
        });
      }
    }
    await until(async () => {
      const { data } = Object(
        await json(await app.as("operator", "/v1/notifications?status=pending&limit=1")),
      );
      return data.length === 0;
    });
    const seen = new Set<string>();
    for (const { headers, body } of gateway.received) {
      const message: JsonObject = JSON.parse(body);
      const name = String(message["type"]).replace("io.skyhook.", "");
      const [contentType = ""] = (headers["content-type"] ?? "").split(";");
      seen.add(name);
      expect([name, faults(name, contentType, message)]).toEqual([name, []]);
    }
    expect([...seen].filter((name) => /^(?:bookings|skyhook)\./.test(name))).toHaveLength(2);
    expect(seen.size).toBeGreaterThanOrEqual(sampled.length);
    await gateway.stop();
  });

  test("would reject a message of another shape", async () => {
    await using app = await startApp();
    const faults = validatorOf(await json(await app.fetch("/openapi.json")));
    const [described] = app.services.eventCatalogue();
    if (described === undefined) throw new Error("There are no events");
    const { name, json: plain } = schemasOf(described);
    expect(faults(name, "application/json", plain.example)).toEqual([]);
    const without = { ...Object(plain.example), data: { title: 1 } };
    expect(faults(name, "application/json", without).length).toBeGreaterThan(3);
  });
});
