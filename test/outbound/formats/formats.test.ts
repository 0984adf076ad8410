import { describe, expect, test } from "bun:test";

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";

import { severities } from "../../../src/event/new-notification.ts";
import { messageOf } from "../../../src/outbound/deliveries/send.ts";
import { renderEmail } from "../../../src/outbound/formats/email.ts";
import type { Rendering } from "../../../src/outbound/formats/format.ts";
import { formatInfo, type FormatName, httpFormats } from "../../../src/outbound/formats/formats.ts";
import { renderJsonBatch } from "../../../src/outbound/formats/json.ts";
import { renderOriginal } from "../../../src/outbound/formats/original.ts";
import { secretOf } from "../../../src/outbound/formats/standard-webhooks.ts";
import { forAll } from "../../support/runs.ts";

const secrets = [secretOf(new Uint8Array(32).fill(1)), secretOf(new Uint8Array(32).fill(2))];
const at = new Date("2026-11-22T10:00:00.000Z");
const rendering: Rendering = {
  notification: {
    id: "ntf_1",
    title: "Deploy failed: web",
    text: "production · Fix cart",
    url: "https://vercel.com/acme/web/dpl_1",
    severity: "error",
    createdAt: at,
  },
  event: {
    id: "evt_1",
    provider: "deploy_platform",
    type: "deploy.error",
    status: "accepted",
    idempotencyKey: "deploy_platform:1",
    occurredAt: at,
    createdAt: at,
    subject: "deployment/dpl_1",
    title: "Deploy failed: web",
    url: "https://vercel.com/acme/web/dpl_1",
    actor: "Ada",
    data: { target: "production" },
    recovered: false,
  },
  origin: null,
  secrets,
  atMs: at.getTime(),
  template: null,
};

type HttpFormat = Exclude<FormatName, "email" | "original">;
const bodyOf = (format: HttpFormat, changes: Partial<Rendering["notification"]> = {}): unknown =>
  JSON.parse(
    httpFormats[format]({ ...rendering, notification: { ...rendering.notification, ...changes } })
      .body,
  );

const strict = <Fields extends Record<string, TSchema>>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false });
const textUpTo = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const plainText = (maxLength: number) =>
  strict({
    type: Type.Literal("plain_text"),
    text: textUpTo(maxLength),
    emoji: Type.Boolean(),
  });
const oneOf = (...names: readonly string[]) => Type.Union(names.map((name) => Type.Literal(name)));
const incident = { routing_key: Type.String(), dedup_key: textUpTo(255) };
const link = Type.String({ pattern: "^https?://", maxLength: 3_000 });

/** The documented shape of each service, as far as it is used. The sources are named in the formats. */
const shapes = {
  slack: strict({
    attachments: Type.Tuple([
      strict({
        color: Type.String({ pattern: "^#[0-9a-f]{6}$" }),
        // Slack reads controls in it, such as mentions.
        fallback: Type.String({ pattern: "^[^<>]*$" }),
        blocks: Type.Array(
          Type.Union([
            strict({ type: Type.Literal("header"), text: plainText(150) }),
            strict({ type: Type.Literal("section"), text: plainText(3_000) }),
            strict({
              type: Type.Literal("context"),
              elements: Type.Array(
                Type.Union([
                  plainText(3_000),
                  // The only text that Slack formats: a link without a free part.
                  strict({
                    type: Type.Literal("mrkdwn"),
                    text: Type.String({ pattern: "^<https?://[^<>|]+\\|Open>$" }),
                  }),
                ]),
                { minItems: 1, maxItems: 10 },
              ),
            }),
          ]),
          { minItems: 1, maxItems: 50 },
        ),
      }),
    ]),
  }),
  discord: strict({
    embeds: Type.Tuple([
      strict({
        title: textUpTo(256),
        description: Type.Optional(textUpTo(4_096)),
        url: Type.Optional(link),
        color: Type.Integer({ minimum: 0, maximum: 0xffffff }),
        footer: strict({ text: textUpTo(2_048) }),
        timestamp: Type.String(),
      }),
    ]),
    allowed_mentions: strict({ parse: Type.Tuple([]) }),
  }),
  teams: strict({
    type: Type.Literal("message"),
    attachments: Type.Tuple([
      strict({
        contentType: Type.Literal("application/vnd.microsoft.card.adaptive"),
        contentUrl: Type.Null(),
        content: strict({
          $schema: Type.String(),
          type: Type.Literal("AdaptiveCard"),
          version: Type.Literal("1.4"),
          body: Type.Array(
            strict({
              type: Type.Literal("RichTextBlock"),
              inlines: Type.Tuple([
                strict({
                  type: Type.Literal("TextRun"),
                  text: Type.String({ minLength: 1 }),
                  weight: Type.Optional(Type.Literal("bolder")),
                  size: Type.Optional(oneOf("medium", "small")),
                  color: Type.Optional(oneOf("default", "good", "warning", "attention")),
                  isSubtle: Type.Optional(Type.Boolean()),
                }),
              ]),
            }),
          ),
          actions: Type.Optional(
            Type.Tuple([
              strict({ type: Type.Literal("Action.OpenUrl"), title: Type.String(), url: link }),
            ]),
          ),
        }),
      }),
    ]),
  }),
  pagerduty: Type.Union([
    strict({ ...incident, event_action: Type.Literal("resolve") }),
    strict({
      ...incident,
      event_action: Type.Literal("trigger"),
      client: Type.String(),
      links: Type.Optional(Type.Tuple([strict({ href: link, text: Type.String() })])),
      payload: strict({
        summary: textUpTo(1_024),
        source: textUpTo(255),
        severity: oneOf("critical", "error", "warning", "info"),
        timestamp: Type.String(),
        class: Type.String(),
        custom_details: Type.Record(Type.String(), Type.Unknown()),
      }),
    }),
  ]),
} as const satisfies Partial<Record<HttpFormat, TSchema>>;
type Shaped = keyof typeof shapes;
const shaped = Object.keys(shapes) as Shaped[];

function requireShape<Name extends Shaped>(
  name: Name,
  body: unknown,
): Static<(typeof shapes)[Name]> {
  const shape = shapes[name];
  if (Value.Check(shape, body)) return body;
  const [error] = Value.Errors(shape, body);
  throw new Error(`${name}${error?.path}: ${error?.message}`);
}

/** Text that means something to one of the services, mixed with any other. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "<!channel>",
        "<@U123>",
        "<https://evil.example|your bank>",
        "[click](https://evil.example)",
        "@everyone",
        "@here",
        "<@&1>",
        "**bold**",
        "`code`",
        "\r\nBcc: eve@evil.example",
        "<script>",
        "&amp;",
        "\\",
        "\ud83d\ude00",
        " ",
        "\n",
      ),
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "binary", minLength: 0, maxLength: 5_000 }),
    ),
  )
  .map((parts) => parts.join(""));

const hostileRendering = fc
  .record({
    title: hostile,
    text: hostile,
    url: fc.oneof(
      fc.constantFrom(
        null,
        "javascript:alert(1)",
        "data:text/html,x",
        "https://a.example/|evil>x<y",
        "not a URL",
        `https://a.example/${"x".repeat(5_000)}`,
      ),
      fc.webUrl(),
    ),
    severity: fc.constantFrom(...severities),
    actor: fc.oneof(fc.constant(null), hostile),
    subject: fc.oneof(fc.constant(null), hostile),
    value: hostile,
  })
  .map(({ actor, subject, value, ...message }) => ({
    ...rendering,
    notification: { ...rendering.notification, ...message },
    event: { ...rendering.event, actor, subject, data: { value } },
  }));

/** The body itself always is: JSON escapes halves of pairs. */
function requireWellFormed(_: string, value: unknown): unknown {
  if (typeof value === "string" && !value.isWellFormed()) throw new Error(`half a pair: ${value}`);
  return value;
}

describe.each(shaped)("%s", (name) => {
  test.each(severities)("has the documented shape for severity %s", (severity) => {
    expect(requireShape(name, bodyOf(name, { severity }))).toBeDefined();
  });

  const requireAccepted = (any: Rendering) => {
    const { body } = httpFormats[name](any);
    requireShape(name, JSON.parse(body, requireWellFormed));
    if (name === "teams") expect(Buffer.byteLength(body)).toBeLessThan(28_000);
  };

  test("keeps the documented shape and limits, whatever the payload holds", () => {
    forAll(100, [hostileRendering], requireAccepted);
  });

  // With pairs of code units at either place, one of them at the limit.
  test.each(["…", "\u{1f600}", "x\u{1f600}", "<!channel>", " "])(
    "shortens a text of %j",
    (part) => {
      const text = part.repeat(6_000);
      const notification = { ...rendering.notification, title: text, text };
      const event = { ...rendering.event, actor: text, subject: part.repeat(300) };
      requireAccepted({ ...rendering, notification, event });
    },
  );
});

test("a batch has the id of its notifications, whenever it is sent", () => {
  const idOf = (second: Rendering["notification"]["id"], afterMs: number) => {
    const first = { ...rendering, atMs: rendering.atMs + afterMs };
    const notification = { ...rendering.notification, id: second };
    return renderJsonBatch([first, { ...first, notification }]).headers["webhook-id"];
  };
  expect(idOf("ntf_2", 60_000)).toBe(String(idOf("ntf_2", 0)));
  expect(idOf("ntf_3", 0)).not.toBe(String(idOf("ntf_2", 0)));
});

test("the sender of an original cannot write the headers of Skyhook", () => {
  const body = Buffer.from("{}");
  const names = ["id", "timestamp", "signature"].map((name) => `skyhook-webhook-${name}`);
  const forged = Object.fromEntries(names.map((name) => [name, "forged"]));
  const { headers } = renderOriginal(rendering, { headers: { ...forged, "x-a": "b" }, body });
  expect(headers).toEqual({
    ...renderOriginal(rendering, { headers: {}, body }).headers,
    "x-a": "b",
  });
});

test("an inherited name is no format", () => {
  expect(formatInfo("constructor")).toBeUndefined();
});

test("Discord formats nothing of the text", () => {
  forAll(100, [hostile], (text) => {
    const { embeds } = requireShape("discord", bodyOf("discord", { text: `x${text}` }));
    const { description = "" } = embeds[0];
    // Without escaped characters, none is left that could format, link or mention.
    expect(description.replaceAll(/\\[!-/:-@[-`{-~]/g, "")).not.toMatch(/[*_`[\]<>@|~#]/);
  });
});

test("PagerDuty resolves the incident of the same subject", () => {
  const [trigger, resolve] = (["error", "success"] as const).map((severity) =>
    requireShape("pagerduty", bodyOf("pagerduty", { severity })),
  );
  expect(trigger).toMatchObject({ event_action: "trigger", routing_key: secrets[0] });
  expect(resolve).toEqual({
    routing_key: String(secrets[0]),
    event_action: "resolve",
    dedup_key: String(trigger?.dedup_key),
  });
});

test("PagerDuty resolves the incident of the same pipeline, whatever the run", () => {
  const keyOf = (subject: string, data: object) => {
    const event = { ...rendering.event, subject, data: { ...data } };
    const body: unknown = JSON.parse(httpFormats.pagerduty({ ...rendering, event }).body);
    return requireShape("pagerduty", body).dedup_key;
  };
  expect(keyOf("workflow_run/2", { pipeline: "a" })).toBe(
    keyOf("workflow_run/1", { pipeline: "a" }),
  );
  expect(keyOf("workflow_run/1", { pipeline: "b" })).not.toBe(
    keyOf("workflow_run/1", { pipeline: "a" }),
  );
});

describe.each(["cloudevents", "json"] as const)("%s", (name) => {
  test("verifies with the current and with the previous secret", () => {
    const now = { ...rendering, atMs: Date.now() };
    const { headers, body } = httpFormats[name](now);
    for (const secret of secrets) {
      expect(new Webhook(secret).verify(body, { ...headers })).toEqual(JSON.parse(body));
    }
    expect(headers).toMatchObject({ "webhook-id": "ntf_1" });
  });

  test("holds the whole event", () => {
    expect(bodyOf(name)).toMatchObject({
      type: expect.stringContaining("deploy_platform.deploy.error"),
      data: { notificationId: "ntf_1", severity: "error", event: { id: "evt_1", actor: "Ada" } },
    });
  });
});

describe("e-mail", () => {
  test("is readable text", () => {
    const request = renderEmail(rendering.notification, rendering.event);
    const destination = { id: "dst_1", format: "email" } as const;
    expect(messageOf(destination, rendering, request, null)).toMatchObject({
      id: "ntf_1",
      headers: { subject: "Deploy failed: web" },
      body: "production · Fix cart\n\nhttps://vercel.com/acme/web/dpl_1\n\ndeploy_platform · deploy.error · Ada · error\n\nntf_1 · evt_1",
      event: { createdAt: at },
    });
  });

  test("has a one-line subject, whatever the title holds", () => {
    forAll(100, [hostile], (title) => {
      const { headers } = renderEmail({ ...rendering.notification, title }, rendering.event);
      const { subject = "" } = headers;
      expect(subject).not.toMatch(/[\r\n\0]/);
      expect(subject.length).toBeWithin(1, 201);
    });
  });
});
