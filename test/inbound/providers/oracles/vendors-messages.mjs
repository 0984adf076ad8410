import { createPublicKey, generateKeyPairSync, sign as signWith } from "node:crypto";

import { validateSignature } from "@line/bot-sdk";
import { EventWebhook } from "@sendgrid/eventwebhook";
import bolt from "@slack/bolt/dist/receivers/verify-request.js";
import { AwsLambdaReceiver } from "@zoom/rivet/teamchat";
import discord from "discord-interactions";
import mailgun from "mailgun-js";
import openai from "openai";
import { Resend } from "resend";
import * as standard from "standardwebhooks";
import * as svix from "svix";
import twilio from "twilio";
import { WhatsAppAPI } from "whatsapp-api-js";

import { clock } from "./clock.mjs";
import { ed25519Key, ed25519Sign, hmac, seconds } from "./formulas.mjs";

console.debug = () => {};

const slack = {
  name: "slack",
  oracle: { package: "@slack/bolt", call: "verifySlackRequest" },
  secret: "8f742231b10e8888abcd99yyyzzz85a5",
  otherSecret: "8f742231b10e8888abcd99yyyzzz85a6",
  signatureHeaders: ["x-slack-signature", "x-slack-request-timestamp"],
  sign: ({ body, secret }) => ({
    "x-slack-request-timestamp": seconds(),
    "x-slack-signature": `v0=${hmac("sha256", secret, `v0:${seconds()}:${body}`, "hex")}`,
  }),
  accepts: ({ body, secret, headers }) =>
    bolt.isValidSlackRequest({ signingSecret: secret, body, headers, nowMilliseconds: clock.now }),
  deliveries: [
    {
      title: "a message in a channel",
      event: "message",
      body: {
        token: "unused",
        team_id: "T061EG9R6",
        api_app_id: "A0PNCHHK2",
        event: {
          type: "message",
          channel: "C0LAN2Q65",
          user: "U061F7AUR",
          text: "Deploy is done 🎉",
          ts: "1795348799.000100",
          event_ts: "1795348799.000100",
          channel_type: "channel",
        },
        type: "event_callback",
        event_id: "Ev0PV52K21",
        event_time: 1795348799,
        authorizations: [{ team_id: "T061EG9R6", user_id: "U061F7AUR", is_bot: false }],
      },
    },
    {
      title: "the test of the URL",
      // Slack takes the text alone, too.
      handshake: {
        status: 200,
        body: '{"challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"}',
      },
      body: {
        token: "unused",
        challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P",
        type: "url_verification",
      },
    },
    {
      title: "the documented slash command",
      source: "https://docs.slack.dev/authentication/verifying-requests-from-slack",
      at: "2018-07-12T18:36:58.000Z",
      signed: {
        "x-slack-request-timestamp": "1531420618",
        "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
      },
      body: "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
    },
  ],
};

const discordKey = ed25519Key("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
const discordVendor = {
  name: "discord",
  oracle: { package: "discord-interactions", call: "verifyKey" },
  secret: createPublicKey(discordKey)
    .export({ format: "der", type: "spki" })
    .subarray(-32)
    .toString("hex"),
  signatureHeaders: ["x-signature-ed25519", "x-signature-timestamp"],
  sign: ({ body }) => ({
    "x-signature-timestamp": seconds(),
    "x-signature-ed25519": ed25519Sign(discordKey, seconds() + body).toString("hex"),
  }),
  accepts: ({ body, secret, headers }) =>
    discord.verifyKey(
      body,
      headers["x-signature-ed25519"],
      headers["x-signature-timestamp"],
      secret,
    ),
  deliveries: [
    {
      title: "an app added to a server",
      event: "APPLICATION_AUTHORIZED",
      body: {
        version: 1,
        application_id: "1234560123453231555",
        type: 1,
        event: {
          type: "APPLICATION_AUTHORIZED",
          timestamp: "2026-11-22T12:00:00.000000",
          data: {
            integration_type: 1,
            scopes: ["applications.commands"],
            user: { id: "80351110224678912", username: "nelly", global_name: "Nelly 🐘" },
          },
        },
      },
    },
    {
      title: "the ping of webhook events",
      handshake: { status: 204, body: "" },
      body: { version: 1, application_id: "1234560123453231555", type: 0 },
    },
    {
      title: "the ping of interactions",
      handshake: { status: 200, body: '{"type":1}' },
      body: {
        app_permissions: "2248473465835073",
        application_id: "1234560123453231555",
        id: "1310000000000000001",
        token: "unused",
        type: 1,
        user: { id: "80351110224678912", username: "nelly" },
        version: 1,
      },
    },
  ],
};

const standardSigner = (Webhook, prefix) => ({
  sign: ({ body, secret }) => ({
    [`${prefix}-id`]: "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W",
    [`${prefix}-timestamp`]: seconds(),
    [`${prefix}-signature`]: new Webhook(secret).sign(
      "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W",
      new Date(),
      body,
    ),
  }),
  accepts: ({ body, secret, headers }) => {
    new Webhook(secret).verify(body, headers);
    return true;
  },
  signatureHeaders: [`${prefix}-id`, `${prefix}-timestamp`, `${prefix}-signature`],
});

const standardWebhooks = {
  name: "standard_webhooks",
  oracle: { package: "standardwebhooks", call: "Webhook.sign, Webhook.verify" },
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  otherSecret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx",
  ...standardSigner(standard.Webhook, "webhook"),
  deliveries: [
    {
      title: "an event of the form that the specification recommends",
      event: "contact.created",
      body: {
        type: "contact.created",
        timestamp: "2026-11-22T11:59:58.123Z",
        data: { id: "1f81eb52-5198-4599-803e-771906343485", name: "Zoë" },
      },
    },
    {
      title: "the vector of the specification",
      source:
        "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
      at: "2021-02-25T15:02:10.000Z",
      signed: {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1a,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      },
      body: '{"test": 2432232314}',
    },
  ],
};

const svixVendor = {
  name: "svix",
  oracle: { package: "svix", call: "Webhook.sign, Webhook.verify" },
  secret: "whsec_plJ3nmyCDGBKInavdOK15jsl",
  otherSecret: "whsec_plJ3nmyCDGBKInavdOK15jsm",
  ...standardSigner(svix.Webhook, "svix"),
  deliveries: [
    {
      title: "a user created, as Clerk sends it",
      event: "user.created",
      body: {
        data: { id: "user_29w83sxmDNGwOuEthce5gg56FcC", first_name: "Zoë", last_name: "Example" },
        object: "event",
        timestamp: 1795348798123,
        type: "user.created",
      },
    },
    {
      title: "the documented vector",
      source: "https://docs.svix.com/receiving/verifying-payloads/how-manual",
      at: "2024-11-15T21:12:01.000Z",
      signed: {
        "svix-id": "msg_loFOjxBNrRLzqYUf",
        "svix-timestamp": "1731705121",
        "svix-signature": "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=",
      },
      body: '{"event_type":"ping","data":{"success":true}}',
    },
  ],
};

const resend = {
  name: "resend",
  oracle: { package: "resend", call: "webhooks.verify" },
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  otherSecret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx",
  ...standardSigner(svix.Webhook, "svix"),
  accepts({ body, secret, headers }) {
    new Resend("re_unused").webhooks.verify({
      payload: body,
      headers: {
        id: headers["svix-id"],
        timestamp: headers["svix-timestamp"],
        signature: headers["svix-signature"],
      },
      webhookSecret: secret,
    });
    return true;
  },
  deliveries: [
    {
      title: "an e-mail that bounced",
      event: "email.bounced",
      body: {
        type: "email.bounced",
        created_at: "2026-11-22T23:41:12.126Z",
        data: {
          created_at: "2026-11-22T23:41:11.894719+00:00",
          email_id: "56761188-7520-42d8-8898-ff6fc54ce618",
          from: "Acme <onboarding@example.com>",
          to: ["zoë@example.net"],
          subject: "Willkommen – los geht’s",
          bounce: { message: "The mailbox does not exist", subType: "General", type: "Permanent" },
        },
      },
    },
  ],
};

const openAi = {
  name: "openai",
  oracle: { package: "openai", call: "webhooks.verifySignature" },
  secret: "whsec_RdvaYFYUXuIFuEbvZHwMfYFhUf7aMYjYcmM24+Aj40c=",
  otherSecret: "whsec_RdvaYFYUXuIFuEbvZHwMfYFhUf7aMYjYcmM24+Aj41c=",
  ...standardSigner(standard.Webhook, "webhook"),
  async accepts({ body, secret, headers }) {
    const client = new openai({ apiKey: "unused" });
    await client.webhooks.verifySignature(body, headers, secret, 300);
    return true;
  },
  deliveries: [
    {
      title: "a batch that is done",
      event: "batch.completed",
      body: {
        object: "event",
        id: "evt_685343a1381c819085d44c354e1b330e",
        type: "batch.completed",
        created_at: 1795348797,
        data: { id: "batch_685343a1381c819085d44c354e1b330e" },
      },
    },
  ],
};

const form = (fields) => new URLSearchParams(fields).toString();
const twilioVendor = {
  name: "twilio",
  oracle: { package: "twilio", call: "validateRequest, validateRequestWithBody" },
  secret: "12345",
  otherSecret: "12346",
  signatureHeaders: ["x-twilio-signature"],
  sign: ({ url, body, secret }) => ({
    "content-type": "application/x-www-form-urlencoded; charset=UTF-8",
    "x-twilio-signature": twilio.getExpectedTwilioSignature(
      secret,
      url,
      Object.fromEntries(new URLSearchParams(body)),
    ),
  }),
  accepts: ({ url, body, secret, headers }) =>
    twilio.validateRequest(
      secret,
      headers["x-twilio-signature"],
      url,
      Object.fromEntries(new URLSearchParams(body)),
    ),
  deliveries: [
    {
      title: "an SMS received",
      event: "received",
      body: form({
        ToCountry: "US",
        SmsMessageSid: "SM00000000000000000000000000000001",
        NumMedia: "0",
        SmsSid: "SM00000000000000000000000000000001",
        SmsStatus: "received",
        Body: "Is flight 42 on time? ✈️ a+b & c",
        To: "+15551230001",
        MessageSid: "SM00000000000000000000000000000001",
        AccountSid: "AC00000000000000000000000000000001",
        From: "+15551230002",
        ApiVersion: "2010-04-01",
      }),
    },
    {
      title: "the documented call",
      source:
        "https://www.twilio.com/docs/usage/security#validating-requests (example of the helper libraries)",
      url: "https://mycompany.com/myapp.php?foo=1&bar=2",
      signed: {
        "content-type": "application/x-www-form-urlencoded",
        "x-twilio-signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8=",
      },
      body: form({
        CallSid: "CA1234567890ABCDE",
        Caller: "+14158675309",
        Digits: "1234",
        From: "+14158675309",
        To: "+18005551212",
      }),
    },
  ],
};

const sendgridKeys = generateKeyPairSync("ec", { namedCurve: "P-256" });
const sendgrid = {
  name: "sendgrid",
  oracle: { package: "@sendgrid/eventwebhook", call: "EventWebhook.verifySignature" },
  secret: sendgridKeys.publicKey.export({ format: "der", type: "spki" }).toString("base64"),
  signatureHeaders: [
    "x-twilio-email-event-webhook-signature",
    "x-twilio-email-event-webhook-timestamp",
  ],
  sign: ({ body }) => ({
    "x-twilio-email-event-webhook-timestamp": seconds(),
    "x-twilio-email-event-webhook-signature": signWith(
      "sha256",
      Buffer.from(seconds() + body),
      sendgridKeys.privateKey,
    ).toString("base64"),
  }),
  accepts({ body, secret, headers }) {
    const events = new EventWebhook();
    return events.verifySignature(
      events.convertPublicKeyToECDSA(secret),
      body,
      headers["x-twilio-email-event-webhook-signature"],
      headers["x-twilio-email-event-webhook-timestamp"],
    );
  },
  deliveries: [
    {
      title: "a list of two events, as SendGrid writes it",
      event: "bounce",
      body: `${JSON.stringify([
        {
          email: "zoë@example.net",
          event: "bounce",
          reason: "500 unknown recipient",
          sg_event_id: "ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA",
          sg_message_id: "LRzXl_NHStOGhQ4kofSm_A.filterdrecv",
          "smtp-id": "<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>",
          status: "5.0.0",
          timestamp: 1795348790,
          type: "bounce",
        },
        {
          email: "kim@example.net",
          event: "delivered",
          sg_event_id: "ZGVsaXZlcmVkLTAtMTA5OTQ5MTktTFJ6WGxfTkhTdE9HaFE0a29mU21fQS0w",
          sg_message_id: "LRzXl_NHStOGhQ4kofSm_A.filterdrecv",
          timestamp: 1795348791,
        },
      ])}\r\n`,
    },
    {
      title: "the vector of the SDK's tests",
      source:
        "https://github.com/sendgrid/sendgrid-nodejs/blob/main/packages/eventwebhook/src/eventwebhook.spec.js",
      at: "2020-05-06T18:06:07.000Z",
      secret:
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEDr2LjtURuePQzplybdC+u4CwrqDqBaWjcMMsTbhdbcwHBcepxo7yAQGhHPTnlvFYPAZFceEu/1FwCM/QmGUhA==",
      signed: {
        "x-twilio-email-event-webhook-timestamp": "1588788367",
        "x-twilio-email-event-webhook-signature":
          "MEUCIQCtIHJeH93Y+qpYeWrySphQgpNGNr/U+UyUlBkU6n7RAwIgJTz2C+8a8xonZGi6BpSzoQsbVRamr2nlxFDWYNH2j/0=",
      },
      body: { category: "example_payload", event: "test_event", message_id: "message_id" },
    },
  ],
};

const mailgunToken = "a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0";
const mailgunVendor = {
  name: "mailgun",
  oracle: { package: "mailgun-js", call: "validateWebhook" },
  secret: "key-3ax6xnjp29jd6fds4gc373sgvjxteol0",
  otherSecret: "key-3ax6xnjp29jd6fds4gc373sgvjxteol1",
  // Only the time and the token are signed.
  alterBody: (body) => body.replace(mailgunToken, mailgunToken.replace("a8", "a9")),
  sign: () => ({ "content-type": "application/json" }),
  accepts({ body, secret }) {
    const { timestamp, token, signature } = JSON.parse(body).signature;
    const client = mailgun({ apiKey: secret, domain: "example.com", mute: true });
    return client.validateWebhook(timestamp, token, signature);
  },
  deliveries: [
    {
      title: "a message that failed for good",
      event: "failed",
      body: {
        signature: {
          token: mailgunToken,
          timestamp: "1795348800",
          signature: hmac(
            "sha256",
            "key-3ax6xnjp29jd6fds4gc373sgvjxteol0",
            `1795348800${mailgunToken}`,
            "hex",
          ),
        },
        "event-data": {
          id: "G9Bn5sl1TC6nu79C8C0bwg",
          timestamp: 1795348799.565829,
          event: "failed",
          severity: "permanent",
          reason: "suppress-bounce",
          recipient: "zoë@example.net",
          "delivery-status": {
            code: 605,
            description: "Not delivering to previously bounced address",
          },
          message: {
            headers: { subject: "Test subject", "message-id": "20261122120000.1.ABC@example.com" },
          },
        },
      },
    },
  ],
};

const zoom = {
  name: "zoom",
  oracle: { package: "@zoom/rivet", call: "AwsLambdaReceiver" },
  secret: "zoom-webhook-secret-token",
  otherSecret: "zoom-webhook-secret-tokem",
  signatureHeaders: ["x-zm-signature", "x-zm-request-timestamp"],
  sign: ({ body, secret }) => ({
    "x-zm-request-timestamp": seconds(),
    "x-zm-signature": `v0=${hmac("sha256", secret, `v0:${seconds()}:${body}`, "hex")}`,
  }),
  async accepts({ body, secret, headers }) {
    const receiver = new AwsLambdaReceiver({ webhooksSecretToken: secret });
    const answer = await receiver.start()({ body, headers, isBase64Encoded: false }, {});
    return answer.statusCode === 200;
  },
  deliveries: [
    {
      title: "a meeting that ended",
      event: "meeting.ended",
      body: {
        event: "meeting.ended",
        event_ts: 1795348800123,
        payload: {
          account_id: "AAAAAABBBB",
          object: {
            id: "1234567890",
            uuid: "1234abcdDEFG==",
            host_id: "30R7kT7bTIKSNUFEuH_Qlg",
            topic: "Stand-up – Zoë",
            type: 2,
            start_time: "2026-11-22T11:30:00Z",
            duration: 30,
            timezone: "UTC",
            end_time: "2026-11-22T12:00:00Z",
          },
        },
      },
    },
    {
      title: "the test of the URL",
      handshake: {
        status: 200,
        body: JSON.stringify({
          plainToken: "qgg8vlvZRS6UYooatFL8Aw",
          encryptedToken: hmac(
            "sha256",
            "zoom-webhook-secret-token",
            "qgg8vlvZRS6UYooatFL8Aw",
            "hex",
          ),
        }),
      },
      body: {
        payload: { plainToken: "qgg8vlvZRS6UYooatFL8Aw" },
        event_ts: 1795348800123,
        event: "endpoint.url_validation",
      },
    },
  ],
};

const lineVendor = {
  name: "line",
  oracle: { package: "@line/bot-sdk", call: "validateSignature" },
  secret: "8c570fa6dd201bb328f1c1eac23a96d8",
  otherSecret: "8c570fa6dd201bb328f1c1eac23a96d9",
  signatureHeaders: ["x-line-signature"],
  sign: ({ body, secret }) => ({ "x-line-signature": hmac("sha256", secret, body, "base64") }),
  accepts: ({ body, secret, headers }) =>
    validateSignature(body, secret, headers["x-line-signature"]),
  deliveries: [
    {
      title: "a text message",
      event: "message",
      body: {
        destination: "U8e742f61d673b39c7fff3cecb7536ef0",
        events: [
          {
            type: "message",
            message: { type: "text", id: "14353798921116", text: "こんにちは、世界" },
            timestamp: 1795348799479,
            source: { type: "user", userId: "U80696558e1aa831" },
            replyToken: "757913772c4646b784d4b7ce46d12671",
            mode: "active",
            webhookEventId: "01FZ74A0TDDPYRVKNK77XKC3ZR",
            deliveryContext: { isRedelivery: false },
          },
        ],
      },
    },
  ],
};

const whatsapp = {
  name: "whatsapp",
  oracle: { package: "whatsapp-api-js", call: "verifyRequestSignature; not Meta's own package" },
  kind: "third-party",
  secret: "0123456789abcdef0123456789abcdef",
  otherSecret: "0123456789abcdef0123456789abcdee",
  signatureHeaders: ["x-hub-signature-256"],
  sign: ({ body, secret }) => ({
    "x-hub-signature-256": `sha256=${hmac("sha256", secret, body, "hex")}`,
  }),
  accepts: ({ body, secret, headers }) =>
    new WhatsAppAPI({ token: "unused", appSecret: secret }).verifyRequestSignature(
      body,
      headers["x-hub-signature-256"],
    ),
  deliveries: [
    {
      title: "a text message",
      event: "messages",
      body: {
        object: "whatsapp_business_account",
        entry: [
          {
            id: "102290129340398",
            changes: [
              {
                value: {
                  messaging_product: "whatsapp",
                  metadata: {
                    display_phone_number: "15550783881",
                    phone_number_id: "106540352242922",
                  },
                  contacts: [{ profile: { name: "Kim Example" }, wa_id: "16505551234" }],
                  messages: [
                    {
                      from: "16505551234",
                      id: "wamid.HBgLMTY1MDM4Nzk0MzkVAgASGBQzQTRBNjU5OUFFRTAzODEwMTQ0RgA=",
                      timestamp: "1795348799",
                      type: "text",
                      text: { body: "Does it come in another color?" },
                    },
                  ],
                },
                field: "messages",
              },
            ],
          },
        ],
      },
    },
  ],
};

export const messages = [
  slack,
  discordVendor,
  standardWebhooks,
  svixVendor,
  resend,
  openAi,
  twilioVendor,
  sendgrid,
  mailgunVendor,
  zoom,
  lineVendor,
  whatsapp,
];
