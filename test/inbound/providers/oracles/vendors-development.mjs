import { createSign } from "node:crypto";
import https from "node:https";
import { PassThrough } from "node:stream";

import hubspotClient from "@hubspot/api-client";
import { LinearWebhookClient } from "@linear/sdk/webhooks";
import Mux from "@mux/mux-node";
import { signWebhookPayload, verifyWebhookSignature } from "@notionhq/client";
import * as sanityWebhook from "@sanity/webhook";
import { WorkOS } from "@workos-inc/node";
import { WebhooksManager } from "box-node-sdk/managers/webhooks";
import MessageValidator from "sns-validator";
import { WebflowClient } from "webflow-api";

import { certificatePair } from "./certificate.mjs";
import { hmac, milliseconds, seconds } from "./formulas.mjs";

const linear = {
  name: "linear",
  oracle: { package: "@linear/sdk", call: "LinearWebhookClient.verify" },
  secret: "lin_wh_0123456789abcdefABCDEF",
  otherSecret: "lin_wh_0123456789abcdefABCDEE",
  signatureHeaders: ["linear-signature"],
  sign: ({ body, secret }) => ({ "linear-signature": hmac("sha256", secret, body, "hex") }),
  accepts: ({ body, secret, headers }) =>
    new LinearWebhookClient(secret).verify(Buffer.from(body), headers["linear-signature"]),
  deliveries: [
    {
      title: "an issue created",
      event: "Issue.create",
      headers: {
        "linear-delivery": "234d1a4e-b617-4388-90fe-adc3633d6b72",
        "linear-event": "Issue",
        "linear-timestamp": "1795348799500",
      },
      body: {
        action: "create",
        actor: { id: "b5ea5f1f-8adc-4f52-b4bd-ab4e84cf51ba", type: "user", name: "Zoë Example" },
        createdAt: "2026-11-22T11:59:58.123Z",
        data: {
          id: "539068e2-ae88-4d09-bd75-22eb4a59612f",
          identifier: "ENG-42",
          title: "Cart is empty after log-in 🛒",
          priorityLabel: "Urgent",
          state: { name: "Todo" },
          team: { key: "ENG", name: "Engineering" },
        },
        url: "https://linear.app/acme/issue/ENG-42/cart-is-empty-after-log-in",
        type: "Issue",
        organizationId: "9d5fbe10-8d27-4a3f-bbd0-8e5a8d1b4a2e",
        webhookTimestamp: 1795348799500,
        webhookId: "000042e3-d123-4980-b49f-8e140eef9329",
      },
    },
  ],
};

const notion = {
  name: "notion",
  oracle: { package: "@notionhq/client", call: "signWebhookPayload, verifyWebhookSignature" },
  secret: "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl",
  otherSecret: "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBm",
  signatureHeaders: ["x-notion-signature"],
  sign: async ({ body, secret }) => ({
    "x-notion-signature": await signWebhookPayload({ body, verificationToken: secret }),
  }),
  accepts: ({ body, secret, headers }) =>
    verifyWebhookSignature({
      body,
      signature: headers["x-notion-signature"],
      verificationToken: secret,
    }),
  deliveries: [
    {
      title: "a page whose text changed",
      event: "page.content_updated",
      body: {
        id: "367cba44-b6f3-4c92-81e7-6a2e9659efd4",
        timestamp: "2026-11-22T11:59:58.123Z",
        workspace_id: "13950b26-c203-4f3b-b97d-93ec06319565",
        workspace_name: "Büro",
        subscription_id: "29d75c0d-5546-4414-8459-7b7a92f1fc4b",
        integration_id: "0ef2e755-4912-8096-91c1-00376a88a5ca",
        type: "page.content_updated",
        authors: [{ id: "c7c11cca-1d73-471d-9b6e-bdef51470190", type: "person" }],
        attempt_number: 1,
        entity: { id: "153104cd-477e-809d-8dc4-ff2d96ae3090", type: "page" },
        data: {
          updated_blocks: [],
          parent: { id: "13950b26-c203-4f3b-b97d-93ec06319565", type: "space" },
        },
      },
    },
  ],
};

const workosClient = new WorkOS("sk_unused");
const workos = {
  name: "workos",
  oracle: { package: "@workos-inc/node", call: "webhooks.computeSignature, webhooks.verifyHeader" },
  secret: "wh_0123456789abcdef",
  otherSecret: "wh_0123456789abcdee",
  signatureHeaders: ["workos-signature"],
  sign: async ({ body, secret }) => ({
    "workos-signature": `t=${milliseconds()}, v1=${await workosClient.webhooks.computeSignature(
      milliseconds(),
      JSON.parse(body),
      secret,
    )}`,
  }),
  accepts: ({ body, secret, headers }) =>
    workosClient.webhooks.verifyHeader({
      payload: JSON.parse(body),
      sigHeader: headers["workos-signature"],
      secret,
    }),
  deliveries: [
    {
      title: "a user created in a directory",
      event: "dsync.user.created",
      body: {
        id: "wh_01G69A8RZQ0V6T4QZ5FGJQ7WHM",
        event: "dsync.user.created",
        data: {
          id: "directory_user_01E1X1B89NH8Z3SDFJR4H7RGX7",
          directory_id: "directory_01ECAZ4NV9QMV47GW873HDCX74",
          email: "zoe@example.com",
          first_name: "Zoë",
          last_name: "Example",
          state: "active",
        },
        created_at: "2026-11-22T11:59:58.123Z",
      },
    },
  ],
};

const sanity = {
  name: "sanity",
  oracle: { package: "@sanity/webhook", call: "encodeSignatureHeader, isValidSignature" },
  secret: "sanity-webhook-secret",
  otherSecret: "sanity-webhook-secreu",
  signatureHeaders: ["sanity-webhook-signature"],
  sign: async ({ body, secret }) => ({
    "sanity-webhook-signature": await sanityWebhook.encodeSignatureHeader(
      body,
      Number(milliseconds()),
      secret,
    ),
  }),
  accepts: ({ body, secret, headers }) =>
    sanityWebhook.isValidSignature(body, headers["sanity-webhook-signature"], secret),
  deliveries: [
    {
      title: "a document published",
      event: "update",
      headers: {
        "idempotency-key": "1b2e3f40-aaaa-4bbb-8ccc-0123456789ab",
        "sanity-operation": "update",
        "sanity-document-id": "post-42",
        "sanity-dataset": "production",
      },
      body: {
        _id: "post-42",
        _type: "post",
        _updatedAt: "2026-11-22T11:59:58Z",
        title: "Grüße aus dem Büro",
      },
    },
  ],
};

const mux = {
  name: "mux",
  oracle: { package: "@mux/mux-node", call: "webhooks.verifySignature" },
  secret: "mux-signing-secret-0123456789",
  otherSecret: "mux-signing-secret-0123456788",
  signatureHeaders: ["mux-signature"],
  sign: ({ body, secret }) => ({
    "mux-signature": `t=${seconds()},v1=${hmac("sha256", secret, `${seconds()}.${body}`, "hex")}`,
  }),
  async accepts({ body, secret, headers }) {
    const client = new Mux({ tokenId: "unused", tokenSecret: "unused" });
    await client.webhooks.verifySignature(body, headers, secret);
    return true;
  },
  deliveries: [
    {
      title: "a video that failed",
      event: "video.asset.errored",
      body: {
        type: "video.asset.errored",
        id: "3a56ac3d-33da-4366-855b-f592d898409d",
        created_at: "2026-11-22T11:59:58.000000Z",
        object: { type: "asset", id: "0201p02fGKPE7MrbC269XRD7LpcHhrmbu0002" },
        environment: { name: "Production – Büro", id: "j0863n" },
        data: {
          id: "0201p02fGKPE7MrbC269XRD7LpcHhrmbu0002",
          status: "errored",
          errors: { type: "invalid_input", messages: ["The input has no duration"] },
        },
      },
    },
  ],
};

const boxHeaders = {
  "box-delivery-id": "f96bb54b-ee16-4fc5-aa65-8c2d9e5b546f",
  "box-signature-algorithm": "HmacSHA256",
  "box-signature-version": "1",
};
const boxTime = "2020-01-01T00:00:00-07:00";
const box = {
  name: "box",
  oracle: { package: "box-node-sdk", call: "WebhooksManager.validateMessage" },
  secret: "SamplePrimaryKey",
  otherSecret: "SamplePrimaryKez",
  signatureHeaders: ["box-signature-primary", "box-delivery-timestamp"],
  sign({ body, secret }) {
    const time = new Date().toISOString().replace(/\.\d+Z$/, "-00:00");
    return {
      ...boxHeaders,
      "box-delivery-timestamp": time,
      "box-signature-primary": hmac("sha256", secret, body + time, "base64"),
      "box-signature-secondary": hmac("sha256", "SampleSecondaryKey", body + time, "base64"),
    };
  },
  accepts: ({ body, secret, headers }) =>
    WebhooksManager.validateMessage(body, headers, secret, { maxAge: 600 }),
  deliveries: [
    {
      title: "a file uploaded",
      event: "FILE.UPLOADED",
      body: {
        type: "webhook_event",
        id: "eb0c4e06-751f-442c-86f8-fd5bb404dbec",
        created_at: "2026-11-22T03:59:58-08:00",
        trigger: "FILE.UPLOADED",
        webhook: { id: "1234567890", type: "webhook" },
        created_by: { type: "user", id: "26081968", name: "Zoe Example", login: "zoe@example.com" },
        source: { id: "1234567890", type: "file", name: "Test.txt" },
      },
    },
    {
      title: "the vector of the SDK's tests",
      source: "src/test/webhooks.test.ts in the package box-node-sdk",
      at: "2020-01-01T07:00:00.000Z",
      signed: {
        ...boxHeaders,
        "box-delivery-timestamp": boxTime,
        "box-signature-primary": "6TfeAW3A1PASkgboxxA5yqHNKOwFyMWuEXny/FPD5hI=",
        "box-signature-secondary": "v+1CD1Jdo3muIcbpv5lxxgPglOqMfsNHPV899xWYydo=",
      },
      body: '{"type":"webhook_event","webhook":{"id":"1234567890"},"trigger":"FILE.UPLOADED","source":{"id":"1234567890","type":"file","name":"Test.txt"}}',
    },
  ],
};

const hubspot = {
  name: "hubspot",
  oracle: { package: "@hubspot/api-client", call: "Signature.getSignature, Signature.isValid, v3" },
  secret: "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy",
  otherSecret: "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyz",
  signatureHeaders: ["x-hubspot-signature-v3", "x-hubspot-request-timestamp"],
  sign: ({ url, body, secret }) => ({
    "x-hubspot-request-timestamp": milliseconds(),
    "x-hubspot-signature-v3": hubspotClient.Signature.getSignature("POST", "v3", {
      clientSecret: secret,
      requestBody: body,
      url,
      timestamp: Number(milliseconds()),
    }),
  }),
  accepts: ({ url, body, secret, headers }) =>
    hubspotClient.Signature.isValid({
      signature: headers["x-hubspot-signature-v3"],
      clientSecret: secret,
      requestBody: body,
      url,
      method: "POST",
      signatureVersion: "v3",
      timestamp: Number(headers["x-hubspot-request-timestamp"]),
    }),
  deliveries: [
    {
      title: "a list of two events",
      event: "contact.creation",
      body: [
        {
          eventId: 1148042,
          subscriptionId: 12345,
          portalId: 62515,
          occurredAt: 1795348798123,
          subscriptionType: "contact.creation",
          attemptNumber: 0,
          objectId: 123,
          changeSource: "CRM",
          changeFlag: "NEW",
          appId: 54321,
        },
        {
          eventId: 1148043,
          subscriptionId: 12346,
          portalId: 62515,
          occurredAt: 1795348798124,
          subscriptionType: "contact.propertyChange",
          propertyName: "firstname",
          propertyValue: "Zoë",
          attemptNumber: 0,
          objectId: 123,
          appId: 54321,
        },
      ],
    },
  ],
};

const webflow = {
  name: "webflow",
  oracle: { package: "webflow-api", call: "webhooks.verifySignature" },
  secret: "webflow-webhook-secret-0123456789",
  otherSecret: "webflow-webhook-secret-0123456788",
  signatureHeaders: ["x-webflow-signature", "x-webflow-timestamp"],
  sign: ({ body, secret }) => ({
    "x-webflow-timestamp": milliseconds(),
    "x-webflow-signature": hmac("sha256", secret, `${milliseconds()}:${body}`, "hex"),
  }),
  accepts: ({ body, secret, headers }) =>
    new WebflowClient({ accessToken: "unused" }).webhooks.verifySignature({
      headers,
      body,
      secret,
    }),
  deliveries: [
    {
      title: "a form submitted",
      event: "form_submission",
      body: {
        triggerType: "form_submission",
        payload: {
          id: "6321ca84df3949bfc6752327",
          name: "Contact – Büro",
          siteId: "65427cf400e02b306eaa049c",
          data: { "First Name": "Zoë", email: "zoe@example.com" },
          submittedAt: "2026-11-22T11:59:58.123Z",
          formId: "65429eadebe8a9f3a30f62d0",
        },
      },
    },
  ],
};

const snsUrl =
  "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-56e67fcb41f6fec09b0196692625d385.pem";
const snsPair = certificatePair("/CN=sns.amazonaws.com");
/** Stands in for the only request of sns-validator. Other packages replace `https.get` while they load. */
function getCertificate(url, onResponse) {
  if (url !== snsUrl) throw new Error(`unexpected request to ${url}`);
  const response = new PassThrough();
  response.statusCode = 200;
  onResponse(response);
  response.end(snsPair.certificate);
  return response;
}
const snsKeys = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: [
    "Message",
    "MessageId",
    "SubscribeURL",
    "Timestamp",
    "Token",
    "TopicArn",
    "Type",
  ],
};
function snsSigned(version, message) {
  const text = snsKeys[message.Type]
    .filter((key) => key in message)
    .map((key) => `${key}\n${message[key]}\n`)
    .join("");
  const Signature = createSign(version === "1" ? "RSA-SHA1" : "RSA-SHA256")
    .update(text)
    .sign(snsPair.key, "base64");
  return { ...message, SignatureVersion: version, Signature, SigningCertURL: snsUrl };
}
const snsMessage = {
  Type: "Notification",
  MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
  TopicArn: "arn:aws:sns:us-west-2:123456789012:MyTopic",
  Subject: "ALARM: “CPU” in EU (Frankfurt)",
  Message: '{"AlarmName":"CPU","NewStateValue":"ALARM","NewStateReason":"Threshold Crossed – Zoë"}',
  Timestamp: "2026-11-22T11:59:58.123Z",
};
const { Subject: _, ...snsMessageWithoutSubject } = snsMessage;
const sns = {
  name: "aws_sns",
  oracle: { package: "sns-validator", call: "MessageValidator.validate" },
  secret: "arn:aws:sns:us-west-2:123456789012:MyTopic",
  serves: { [snsUrl]: snsPair.certificate },
  sign: ({ body }) => ({
    "content-type": "text/plain; charset=UTF-8",
    "x-amz-sns-message-type": JSON.parse(body).Type,
    "x-amz-sns-message-id": JSON.parse(body).MessageId,
    "x-amz-sns-topic-arn": JSON.parse(body).TopicArn,
  }),
  accepts: ({ body }) =>
    new Promise((resolve) => {
      https.get = getCertificate;
      new MessageValidator().validate(body, (error) => resolve(!error));
    }),
  alterBody: (body) => body.replace('"Message":"', '"Message":" '),
  deliveries: [
    { title: "a notification, version 2", event: "Notification", body: snsSigned("2", snsMessage) },
    {
      title: "a notification without a subject",
      event: "Notification",
      body: snsSigned("2", snsMessageWithoutSubject),
    },
    {
      title: "the confirmation of a subscription",
      body: snsSigned("2", {
        Type: "SubscriptionConfirmation",
        MessageId: "165545c9-2a5c-472c-8df2-7ff2be2b3b1b",
        Token: "2336412f37fb687f5d51e6e241d09c805a5a57b30d712f794cc5f6a988666d92",
        TopicArn: "arn:aws:sns:us-west-2:123456789012:MyTopic",
        Message: "You have chosen to subscribe to the topic.",
        SubscribeURL:
          "https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&TopicArn=arn:aws:sns:us-west-2:123456789012:MyTopic&Token=2336412f",
        Timestamp: "2026-11-22T11:59:58.123Z",
      }),
    },
  ],
};

const pagerDutyBody = `{"event":{"id":"01BWDWL3NYY7LUFPZCC28QUCMK","event_type":"incident.priority_updated","resource_type":"incident","occurred_at":"2021-04-26T17:36:27.458Z","agent":{"html_url":"https://acme.pagerduty.com/users/PLH1HKV","id":"PLH1HKV","self":"https://api.pagerduty.com/users/PLH1HKV","summary":"Tenex Engineer","type":"user_reference"},"client":null,"data":{"id":"PGR0VU2","type":"incident","self":"https://api.pagerduty.com/incidents/PGR0VU2","html_url":"https://acme.pagerduty.com/incidents/PGR0VU2","number":2,"status":"triggered","title":"A little bump in the road","service":{"html_url":"https://acme.pagerduty.com/services/PF9KMXH","id":"PF9KMXH","self":"https://api.pagerduty.com/services/PF9KMXH","summary":"API Service","type":"service_reference"},"assignees":[{"html_url":"https://acme.pagerduty.com/users/PTUXL6G","id":"PTUXL6G","self":"https://api.pagerduty.com/users/PTUXL6G","summary":"User 123","type":"user_reference"}],"escalation_policy":{"html_url":"https://acme.pagerduty.com/escalation_policies/PUS0KTE","id":"PUS0KTE","self":"https://api.pagerduty.com/escalation_policies/PUS0KTE","summary":"Default","type":"escalation_policy_reference"},"teams":[{"html_url":"https://acme.pagerduty.com/teams/PFCVPS0","id":"PFCVPS0","self":"https://api.pagerduty.com/teams/PFCVPS0","summary":"Engineering","type":"team_reference"}],"priority":{"html_url":"https://acme.pagerduty.com/account/incident_priorities","id":"PSO75BM","self":"https://api.pagerduty.com/priorities/PSO75BM","summary":"P1","type":"priority_reference"},"urgency":"high","conference_bridge":{"conference_number":1000,"conference_url":"https://example.com"},"resolve_reason":null}}}`;
const pagerDutySignature = "v1=0c0b9495b893a39e70d1fea2fe11fbe0a825f88b9f67846f6cc07dd2bc5476cd";
const pagerDutySource =
  "https://github.com/PagerDuty/go-pagerduty/blob/main/webhookv3/webhookv3_test.go";
const pagerDuty = {
  name: "pagerduty",
  oracle: "PagerDuty's own vector, in the tests of go-pagerduty's webhookv3",
  kind: "vector",
  secret: "lDQHScfUeXUKaQRNF+8XIiDKZ7XX3itBAYzwU0TARw8lJqRnkKl2iB1anSb0Z+IK",
  deliveries: [
    {
      title: "an incident",
      source: pagerDutySource,
      event: "incident.priority_updated",
      signed: { "x-pagerduty-signature": pagerDutySignature },
      body: pagerDutyBody,
    },
    {
      title: "the same with the signature of another secret before it, as during a rotation",
      source: pagerDutySource,
      event: "incident.priority_updated",
      signed: { "x-pagerduty-signature": `v1=${"0".repeat(64)},${pagerDutySignature}` },
      body: pagerDutyBody,
    },
  ],
};

const bitbucket = {
  name: "bitbucket",
  oracle: "Atlassian's documented vector",
  kind: "vector",
  secret: "It's a Secret to Everybody",
  sign: ({ body, secret }) => ({
    "x-hub-signature": `sha256=${hmac("sha256", secret, body, "hex")}`,
  }),
  deliveries: [
    {
      title: "the documented vector",
      source: "https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/",
      signed: {
        "x-hub-signature":
          "sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9",
      },
      body: "Hello World!",
    },
    {
      title: "a pull request, signed by the formula that the vector confirms",
      event: "pullrequest:created",
      headers: {
        "x-event-key": "pullrequest:created",
        "x-request-uuid": "2cf1b3a5-8d8c-4f6a-9d52-77b10aa4cc9e",
        "x-hook-uuid": "8f3c1a10-4b1f-4f63-8c2b-0f6dbb8b4a6e",
        "x-attempt-number": "1",
      },
      body: {
        repository: {
          full_name: "acme/web",
          name: "web",
          links: { html: { href: "https://bitbucket.org/acme/web" } },
        },
        actor: { display_name: "Zoë Example", nickname: "zoe", type: "user" },
        pullrequest: {
          id: 42,
          title: "Fix cart 🛒",
          state: "OPEN",
          source: { branch: { name: "fix-cart" } },
          destination: { branch: { name: "main" } },
          links: { html: { href: "https://bitbucket.org/acme/web/pull-requests/42" } },
          created_on: "2026-11-22T11:59:58.123456+00:00",
        },
      },
    },
  ],
};

export const development = [
  linear,
  notion,
  workos,
  sanity,
  mux,
  box,
  hubspot,
  webflow,
  sns,
  pagerDuty,
  bitbucket,
];
