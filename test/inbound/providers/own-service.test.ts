import { describe, expect, test } from "bun:test";

import { idAt } from "../../../src/base/ids.ts";
import { catalogue } from "../../../src/inbound/providers/catalogue.ts";
import { catalogueFiles } from "../../../src/inbound/providers/files/catalogue-files.ts";
import { fileProvider } from "../../../src/inbound/providers/files/file-provider.ts";
import { readProviderFile } from "../../../src/inbound/providers/files/provider-file.ts";
import { isAtService } from "../../../src/inbound/providers/own-service.ts";
import { renderPagerduty } from "../../../src/outbound/formats/pagerduty.ts";
import { interpretPayload } from "../../support/providers.ts";
import { eventRow, notificationRow } from "../../support/rows.ts";

const provider = (id: string, text = catalogueFiles[id] ?? "") =>
  fileProvider(id, id, readProviderFile(id, text));

const notificationId = idAt("ntf", 1, 1);
const messageId = `${notificationId}@example.com`;

/** The incident key of what Skyhook sends, for events whose own key is short or too long. */
const incidentKey = (subject: string) => {
  const event = eventRow(1, { subject });
  const { createdAt } = event;
  const notification = { ...notificationRow(1), id: notificationId, createdAt };
  const origin = { origin: null, secrets: ["key"], atMs: 0, template: null };
  const { body } = renderPagerduty({ notification, event, ...origin });
  return String(Object(JSON.parse(body)).dedup_key);
};

const slack = (event: object) => ({ event: { type: "message", ...event } });
const incident = (data: object, client: object | null = null) => ({
  event: { id: "1", event_type: "incident.acknowledged", client, data },
});
const mailgun = (id: string) => ({
  "event-data": { event: "failed", message: { headers: { "message-id": id } } },
});
const sendgrid = (id: string) => ({ event: "bounce", "smtp-id": id });

describe("what a destination of Skyhook causes is ignored, and nothing else is", () => {
  test.each([
    ["slack", slack({ user: "U1", text: "hi" }), "accepted"],
    ["slack", slack({ user: "U1", subtype: "file_share" }), "accepted"],
    ["slack", slack({ user: "U1", bot_id: null }), "accepted"],
    ["slack", slack({ bot_id: "B1", app_id: "A1" }), "ignored"],
    ["slack", slack({ bot_profile: { id: "B1" } }), "ignored"],
    ["slack", slack({ subtype: "bot_message" }), "ignored"],
    ["slack", slack({ subtype: "message_changed" }), "ignored"],
    ["slack", slack({ subtype: "message_deleted" }), "ignored"],
    ["slack", { event: { type: "app_mention", bot_id: "B1" } }, "ignored"],
    ["slack", { event: { type: "app_mention", user: "U1" } }, "accepted"],
    ["slack", { event: { type: "channel_archive", user: "U1" } }, "accepted"],
    ["pagerduty", incident({ incident_key: "4f2c" }, { name: "PagerDuty" }), "accepted"],
    ["pagerduty", incident({ incident_key: "my-skyhook:1" }), "accepted"],
    ["pagerduty", incident({ incident_key: null }), "accepted"],
    ["pagerduty", incident({ incident_key: "4f2c" }, { name: "Skyhook" }), "ignored"],
    ["pagerduty", incident({ incident_key: incidentKey("deploy/1") }), "ignored"],
    ["pagerduty", incident({ incident_key: incidentKey("x".repeat(300)) }), "ignored"],
    ["mailgun", mailgun("20261122120000.1.ABC@example.com"), "accepted"],
    ["mailgun", mailgun(messageId), "ignored"],
    ["mailgun", mailgun(`<${messageId}>`), "ignored"],
    ["sendgrid", sendgrid("<14c5d75ce93@example.com>"), "accepted"],
    ["sendgrid", sendgrid(`<${messageId}>`), "ignored"],
  ] as const)("%s: %j is %s", (id, payload, status) => {
    expect(interpretPayload(provider(id), payload).status).toBe(status);
  });

  test("it keeps its type and title, as operators look for it", () => {
    const event = interpretPayload(provider("slack"), slack({ bot_id: "B1", text: "hi" }));
    expect(event).toMatchObject({ type: "message.posted", title: "Message: hi" });
  });
});

test.each([
  ['own: [{ "/a": "1", "/b": "x*" }]', { a: 1, b: "xy" }, "ignored"],
  ['own: [{ "/a": "1", "/b": "x*" }]', { a: 1, b: "x" }, "accepted"],
  ['own: [{ "/a": "1" }, { "/b": "*" }]', { b: false }, "ignored"],
  ['own: [{ "/b": "*" }]', { b: "" }, "accepted"],
  ['own: [{ "/b": "*" }]', { b: {} }, "accepted"],
] as const)("a file with %s reads %j as %s", (own, payload, status) => {
  expect(interpretPayload(provider("acme", fileWith(own)), payload).status).toBe(status);
});

test.each([
  ['own: [{ a: "1" }]', '"a" is unknown'],
  ['own: [{ header.x-signature: "1" }]', "holds the signature or the secret"],
  ['own: [{ delivery/a: "1" }]', 'is only for files with "each"'],
  ["own: [{}]", "own"],
  ["destinations: [Slack]", "destinations"],
])("a file with %s is refused", (line, message) => {
  expect(() => provider("acme", fileWith(line))).toThrow(message);
});

const fileWith = (line: string) => `displayName: Acme
signature: { kind: hmac, algorithm: sha256, encoding: hex, from: header.x-signature, signs: "{body}" }
event: "{/type}"
${line}
events: { "*": {} }
samples: { x: { body: { type: x } } }
`;

const at = (
  format: "json" | "slack" | "pagerduty" | "discord" | "email" | "original",
  host: string,
) => ({ format, url: `https://${host}/…` });

test.each([
  ["slack", at("slack", "hooks.slack.com"), true],
  ["slack", at("slack", "proxy.example.com"), true],
  ["slack", at("json", "hooks.slack.com"), true],
  ["slack", at("json", "slack.com.example.com"), false],
  ["slack", at("discord", "discord.com"), false],
  ["discord", at("discord", "discord.com"), true],
  ["discord", at("json", "discordapp.com"), true],
  ["pagerduty", at("pagerduty", "events.eu.pagerduty.com"), true],
  ["mailgun", at("email", "smtp.example.com:465"), true],
  ["postmark", at("email", "smtp.example.com"), true],
  ["resend", at("email", "smtp.example.com"), true],
  ["mandrill", at("email", "smtp.example.com"), true],
  ["sendgrid", at("email", "smtp.example.com"), true],
  // SNS carries anything: only mail that SES sends comes back by it.
  ["aws_sns", at("email", "smtp.example.com"), false],
  ["aws_sns", at("email", "email-smtp.eu-west-1.amazonaws.com:465"), true],
  ["jira", at("json", "acme.atlassian.net"), true],
  ["telegram", at("json", "api.telegram.org"), true],
  // An address that starts a build, a message or a document, which comes back.
  ["netlify", at("json", "api.netlify.com"), true],
  ["buildkite", at("json", "webhook.buildkite.com"), true],
  ["azure_event_grid", at("json", "acme.westeurope-1.eventgrid.azure.net"), true],
  ["google_pubsub", at("json", "pubsub.googleapis.com"), true],
  ["svix", at("json", "api.eu.svix.com"), true],
  ["sanity", at("json", "p1.api.sanity.io"), true],
  ["x", at("json", "api.x.com"), true],
  ["alertmanager", at("json", "alerts.example.com"), false],
] as const)("%s and %j are at one service: %p", (id, destination, expected) => {
  expect(isAtService(provider(id), destination)).toBe(expected);
});

test.each(["json", "original"] as const)(
  "a provider named %s does not lose destinations",
  (format) => {
    expect(isAtService({ id: format }, at(format, "example.com"))).toBe(false);
  },
);

test("a provider with the name of a format is at its service, also from an older file", () => {
  const team = provider("slack_of_a_team", catalogueFiles["slack"]);
  expect(isAtService(team, at("slack", "proxy.example.com"))).toBe(true);
  expect(isAtService({ id: "slack" }, at("slack", "example.com"))).toBe(true);
  for (const { id } of catalogue) expect(isAtService({ id }, at("email", "x.com"))).toBe(false);
});
