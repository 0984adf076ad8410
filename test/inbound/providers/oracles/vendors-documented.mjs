import { createHash, createSign, generateKeyPairSync } from "node:crypto";
import { crc32 } from "node:zlib";

import { SignJWT } from "jose";

import { certificatePair } from "./certificate.mjs";
import { hmac, seconds } from "./formulas.mjs";

// Services without an SDK that verifies. Their deliveries are signed by node:crypto as the service's
// documentation says; no oracle has confirmed them, and the catalogue says so.

const documentedBy = (url) => `the formula in ${url}; no SDK or vector confirms it`;

const typeform = {
  name: "typeform",
  oracle: documentedBy("https://www.typeform.com/developers/webhooks/secure-your-webhooks/"),
  secret: "abc123",
  sign: ({ body, secret }) => ({
    "typeform-signature": `sha256=${hmac("sha256", secret, body, "base64")}`,
  }),
  deliveries: [
    {
      title: "a response",
      event: "form_response",
      body: {
        event_id: "LtWXD3crgy",
        event_type: "form_response",
        form_response: {
          form_id: "lT4Z3j",
          token: "a3a12ec67a1365927098a606107fac15",
          submitted_at: "2026-11-22T11:59:58Z",
          definition: { id: "lT4Z3j", title: "Umfrage – Büro" },
          answers: [
            { type: "text", text: "Zoë", field: { id: "DlXFaesGBpoF", type: "short_text" } },
          ],
        },
      },
    },
  ],
};

const calendly = {
  name: "calendly",
  oracle: documentedBy("https://developer.calendly.com/api-docs/4c305798a61d3-webhook-signatures"),
  secret: "5mEzn9C-I28UtwOjZJtFoob0sAAFZ95GbZkqj4y3i0I",
  sign: ({ body, secret }) => ({
    "calendly-webhook-signature": `t=${seconds()},v1=${hmac("sha256", secret, `${seconds()}.${body}`, "hex")}`,
  }),
  deliveries: [
    {
      title: "an invitee",
      event: "invitee.created",
      body: {
        event: "invitee.created",
        created_at: "2026-11-22T11:59:58.000000Z",
        created_by: "https://api.calendly.com/users/AAAAAAAAAAAAAAAA",
        payload: {
          uri: "https://api.calendly.com/scheduled_events/AAAA/invitees/BBBB",
          name: "Zoë Example",
          email: "zoe@example.net",
          status: "active",
          cancel_url: "https://calendly.com/cancellations/BBBB",
          scheduled_event: { name: "Intro call", start_time: "2026-11-23T09:00:00.000000Z" },
        },
      },
    },
  ],
};

const intercom = {
  name: "intercom",
  oracle: documentedBy("https://developers.intercom.com/docs/references/webhooks/webhook-models"),
  secret: "00000000-aaaa-4bbb-8ccc-dddddddddddd",
  sign: ({ body, secret }) => ({ "x-hub-signature": `sha1=${hmac("sha1", secret, body, "hex")}` }),
  deliveries: [
    {
      title: "a conversation started",
      event: "conversation.user.created",
      body: {
        type: "notification_event",
        app_id: "a86dr8yl",
        id: "notif_ccd8a4d0-f965-11e3-a367-c779cae3e1b3",
        topic: "conversation.user.created",
        created_at: 1795348798,
        delivery_attempts: 1,
        data: {
          type: "notification_event_data",
          item: {
            type: "conversation",
            id: "1409",
            source: {
              subject: "Rückfrage",
              body: "<p>Where is my order?</p>",
              author: { type: "user", name: "Zoë Example", email: "zoe@example.net" },
            },
            links: {
              conversation_web: "https://app.intercom.com/a/apps/a86dr8yl/conversations/1409",
            },
          },
        },
      },
    },
  ],
};

const sentry = {
  name: "sentry",
  oracle: documentedBy(
    "https://docs.sentry.io/organization/integrations/integration-platform/webhooks/",
  ),
  secret: "7a485448a9dbad87c5ba8a9d6b8bb4cb2f5dd8c8c9e4a3a1",
  sign: ({ body, secret }) => ({ "sentry-hook-signature": hmac("sha256", secret, body, "hex") }),
  deliveries: [
    {
      title: "a new issue",
      event: "issue.created",
      headers: {
        "request-id": "d2e1a8b4-7b3c-4c2e-9f10-0a1b2c3d4e5f",
        "sentry-hook-resource": "issue",
        "sentry-hook-timestamp": "1795348799",
      },
      body: {
        action: "created",
        installation: { uuid: "a8e5d37a-696c-4c54-adb5-b3f28d64c7de" },
        data: {
          issue: {
            id: "1170820242",
            shortId: "WEB-7",
            title: "TypeError: größe is not a function",
            culprit: "cart(app)",
            level: "error",
            web_url: "https://acme.sentry.io/issues/1170820242/",
            firstSeen: "2026-11-22T11:59:57.123456Z",
            project: { id: "1", name: "web", slug: "web" },
          },
        },
        actor: { type: "application", id: "sentry", name: "Sentry" },
      },
    },
  ],
};

const gitlab = {
  name: "gitlab",
  oracle: documentedBy("https://docs.gitlab.com/user/project/integrations/webhooks/"),
  secret: "gitlab-secret-token-0123456789",
  sign: ({ secret }) => ({ "x-gitlab-token": secret }),
  deliveries: [
    {
      title: "a failed pipeline",
      event: "pipeline",
      headers: {
        "x-gitlab-event": "Pipeline Hook",
        "x-gitlab-event-uuid": "13792a34-cac6-4fda-95a8-c58e00a3954e",
        "x-gitlab-webhook-uuid": "02affd2d-2cba-4033-917d-ec22d5dc4b38",
        "idempotency-key": "f5e57e17-0000-4000-8000-0123456789ab",
      },
      body: {
        object_kind: "pipeline",
        object_attributes: {
          id: 31,
          ref: "main",
          sha: "bcbb5ec396a2c0f828686f14fac9b80b780504f2",
          status: "failed",
          detailed_status: "failed",
          url: "https://gitlab.example.com/acme/web/-/pipelines/31",
          created_at: "2026-11-22 11:50:00 UTC",
          finished_at: "2026-11-22 11:59:58 UTC",
        },
        user: { id: 1, name: "Zoë Example", username: "zoe" },
        project: {
          id: 1,
          path_with_namespace: "acme/web",
          web_url: "https://gitlab.example.com/acme/web",
        },
        commit: { title: "Fix cart 🛒", author: { name: "Zoë Example" } },
      },
    },
  ],
};

const zendesk = {
  name: "zendesk",
  oracle: documentedBy("https://developer.zendesk.com/documentation/webhooks/verifying/"),
  secret: "dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==",
  sign: ({ body, secret }) => ({
    "x-zendesk-webhook-signature-timestamp": "2026-11-22T12:00:00Z",
    "x-zendesk-webhook-signature": hmac("sha256", secret, `2026-11-22T12:00:00Z${body}`, "base64"),
  }),
  deliveries: [
    {
      title: "a ticket created",
      event: "zen:event-type:ticket.created",
      headers: { "x-zendesk-webhook-invocation-id": "01HMYV6ZJ3P2Y7ZTV5QJ3JQ5F4" },
      body: {
        account_id: 22129848,
        detail: {
          id: "5158",
          subject: "Rückgabe – order 77",
          priority: "HIGH",
          status: "NEW",
          created_at: "2026-11-22T11:59:57Z",
        },
        event: {},
        id: "2b24ef10-19d3-4740-93cf-8f98ec4776c0",
        subject: "zen:ticket:5158",
        time: "2026-11-22T11:59:58.123456789Z",
        type: "zen:event-type:ticket.created",
        zendesk_event_version: "2022-11-06",
      },
    },
  ],
};

const paystack = {
  name: "paystack",
  oracle: documentedBy("https://paystack.com/docs/payments/webhooks/"),
  secret: "sk_test_0123456789abcdef0123456789abcdef01234567",
  sign: ({ body, secret }) => ({ "x-paystack-signature": hmac("sha512", secret, body, "hex") }),
  deliveries: [
    {
      title: "a charge that succeeded",
      event: "charge.success",
      body: {
        event: "charge.success",
        data: {
          id: 302961,
          domain: "live",
          status: "success",
          reference: "qTPrJoy9Bx",
          amount: 420000,
          currency: "NGN",
          paid_at: "2026-11-22T11:59:58.000Z",
          channel: "card",
          customer: { first_name: "Zoë", email: "zoe@example.net" },
        },
      },
    },
  ],
};

const lemonSqueezy = {
  name: "lemon_squeezy",
  oracle: documentedBy("https://docs.lemonsqueezy.com/help/webhooks/signing-requests"),
  secret: "lemon-signing-secret",
  sign: ({ body, secret }) => ({ "x-signature": hmac("sha256", secret, body, "hex") }),
  deliveries: [
    {
      title: "an order",
      event: "order_created",
      headers: { "x-event-name": "order_created" },
      body: {
        meta: { event_name: "order_created", webhook_id: "9d5f7a1e", test_mode: true },
        data: {
          type: "orders",
          id: "1",
          attributes: {
            order_number: 1001,
            user_name: "Zoë Example",
            user_email: "zoe@example.net",
            currency: "EUR",
            total: 4200,
            total_formatted: "€42.00",
            status: "paid",
            created_at: "2026-11-22T11:59:58.000000Z",
            urls: { receipt: "https://app.lemonsqueezy.com/my-orders/1" },
          },
        },
      },
    },
  ],
};

const calCom = {
  name: "cal_com",
  oracle: documentedBy("https://cal.com/docs/developing/guides/automation/webhooks"),
  secret: "cal-webhook-secret",
  sign: ({ body, secret }) => ({ "x-cal-signature-256": hmac("sha256", secret, body, "hex") }),
  deliveries: [
    {
      title: "a booking",
      event: "BOOKING_CREATED",
      body: {
        triggerEvent: "BOOKING_CREATED",
        createdAt: "2026-11-22T11:59:58.123Z",
        payload: {
          type: "30min",
          title: "30min between Ada and Zoë",
          startTime: "2026-11-23T09:00:00Z",
          endTime: "2026-11-23T09:30:00Z",
          organizer: { name: "Ada", email: "ada@example.com", timeZone: "UTC" },
          attendees: [{ name: "Zoë Example", email: "zoe@example.net", timeZone: "Europe/Berlin" }],
          uid: "bFJeNb2uX8ANpT3JL5EfXw",
          bookingId: 91,
          status: "ACCEPTED",
        },
      },
    },
  ],
};

const asana = {
  name: "asana",
  oracle: documentedBy("https://developers.asana.com/docs/webhooks-guide"),
  secret: "d5f1a3c7e9b2486f0a1c3e5d7f9b2a4c",
  sign: ({ body, secret }) => ({ "x-hook-signature": hmac("sha256", secret, body, "hex") }),
  deliveries: [
    {
      title: "a changed task",
      event: "task.changed",
      body: {
        events: [
          {
            user: { gid: "12345", resource_type: "user" },
            created_at: "2026-11-22T11:59:58.123Z",
            action: "changed",
            resource: { gid: "1337", resource_type: "task", name: "Büro streichen" },
            parent: null,
            change: { field: "completed", action: "changed" },
          },
        ],
      },
    },
  ],
};

const jira = {
  name: "jira",
  oracle: "Atlassian's documented vector",
  kind: "vector",
  secret: "It's a Secret to Everybody",
  sign: ({ body, secret }) => ({
    "x-hub-signature": `sha256=${hmac("sha256", secret, body, "hex")}`,
  }),
  deliveries: [
    {
      title: "the documented vector",
      source: "https://developer.atlassian.com/cloud/jira/platform/webhooks/#secure-admin-webhooks",
      signed: {
        "x-hub-signature":
          "sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9",
      },
      body: "Hello World!",
    },
    {
      title: "an issue, signed by the formula that the vector confirms",
      event: "jira:issue_created",
      headers: { "x-atlassian-webhook-identifier": "b8e7d3a6-1c2d-4e5f-8a9b-0c1d2e3f4a5b" },
      body: {
        timestamp: 1795348798123,
        webhookEvent: "jira:issue_created",
        issue_event_type_name: "issue_created",
        user: { displayName: "Zoë Example", accountId: "5b10a2844c20165700ede21g" },
        issue: {
          id: "99291",
          key: "WEB-42",
          self: "https://acme.atlassian.net/rest/api/2/issue/99291",
          fields: {
            summary: "Größe is not a function",
            priority: { name: "High" },
            status: { name: "To Do" },
            issuetype: { name: "Bug" },
            project: { key: "WEB", name: "Web" },
          },
        },
      },
    },
  ],
};

const twitch = {
  name: "twitch",
  oracle: documentedBy("https://dev.twitch.tv/docs/eventsub/handling-webhook-events/"),
  secret: "s3cre77890ab",
  sign({ body, secret, headers }) {
    const [id, time] = ["id", "timestamp"].map(
      (name) => headers[`twitch-eventsub-message-${name}`],
    );
    return {
      "twitch-eventsub-message-signature": `sha256=${hmac("sha256", secret, id + time + body, "hex")}`,
    };
  },
  deliveries: [
    {
      title: "a stream that began",
      event: "stream.online",
      headers: {
        "twitch-eventsub-message-id": "befa7b53-d79d-478f-86b9-120f112b044e",
        "twitch-eventsub-message-timestamp": "2026-11-22T11:59:59.123456789Z",
        "twitch-eventsub-message-type": "notification",
        "twitch-eventsub-subscription-type": "stream.online",
      },
      body: {
        subscription: {
          id: "f1c2a387-161a-49f9-a165-0f21d7a4e1c4",
          type: "stream.online",
          version: "1",
        },
        event: {
          id: "9001",
          broadcaster_user_id: "1337",
          broadcaster_user_login: "cool_user",
          broadcaster_user_name: "Cool_User",
          type: "live",
          started_at: "2026-11-22T11:59:50.111Z",
        },
      },
    },
    {
      title: "the test of the URL",
      handshake: { status: 200, body: "pogchamp-kappa-360noscope-vohiyo" },
      headers: {
        "twitch-eventsub-message-id": "84c1e79a-2a4b-4c13-ba0b-4312293e9308",
        "twitch-eventsub-message-timestamp": "2026-11-22T11:59:59.634234626Z",
        "twitch-eventsub-message-type": "webhook_callback_verification",
        "twitch-eventsub-subscription-type": "stream.online",
      },
      body: {
        challenge: "pogchamp-kappa-360noscope-vohiyo",
        subscription: {
          id: "f1c2a387-161a-49f9-a165-0f21d7a4e1c4",
          type: "stream.online",
          version: "1",
        },
      },
    },
  ],
};

const payPalUrl = "https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-1d93a270";
const payPalPair = certificatePair("/CN=messageverificationcerts.paypal.com");
const payPal = {
  name: "paypal",
  oracle: documentedBy(
    "https://developer.paypal.com/api/rest/webhooks/rest/#link-selfverificationmethod",
  ),
  secret: "1JE4291016473214C",
  serves: { [payPalUrl]: payPalPair.certificate },
  sign({ body, secret }) {
    const [id, time] = ["69cd13f0-d67a-11e5-baa3-778b53f4ae55", "2026-11-22T12:00:00Z"];
    return {
      "paypal-auth-algo": "SHA256withRSA",
      "paypal-cert-url": payPalUrl,
      "paypal-transmission-id": id,
      "paypal-transmission-time": time,
      "paypal-transmission-sig": createSign("RSA-SHA256")
        .update(`${id}|${time}|${secret}|${crc32(body)}`)
        .sign(payPalPair.key, "base64"),
    };
  },
  deliveries: [
    {
      title: "a completed payment",
      event: "PAYMENT.CAPTURE.COMPLETED",
      body: {
        id: "WH-58D329510W468432D-8HN650336L201105X",
        create_time: "2026-11-22T11:59:58.123Z",
        resource_type: "capture",
        event_type: "PAYMENT.CAPTURE.COMPLETED",
        summary: "Payment completed for € 42.00 EUR",
        resource: {
          id: "42311647XV020574X",
          status: "COMPLETED",
          amount: { currency_code: "EUR", value: "42.00" },
        },
        event_version: "1.0",
      },
    },
  ],
};

const plaidKeys = generateKeyPairSync("ec", { namedCurve: "P-256" });
const plaidKid = "bfbd5111-8e33-4643-8ced-b2e642a72f3c";
const plaid = {
  name: "plaid",
  oracle: documentedBy("https://plaid.com/docs/api/webhooks/webhook-verification/"),
  secret: "plaid-client-id:plaid-secret",
  serves: {
    "https://production.plaid.com/webhook_verification_key/get": {
      key: {
        ...plaidKeys.publicKey.export({ format: "jwk" }),
        alg: "ES256",
        kid: plaidKid,
        use: "sig",
      },
      request_id: "HvVY8DTl6VIbzJW",
    },
  },
  sign: async ({ body }) => ({
    "plaid-verification": await new SignJWT({
      iat: Number(seconds()),
      request_body_sha256: createHash("sha256").update(body).digest("hex"),
    })
      .setProtectedHeader({ alg: "ES256", kid: plaidKid, typ: "JWT" })
      .sign(plaidKeys.privateKey),
  }),
  deliveries: [
    {
      title: "new transactions",
      event: "TRANSACTIONS.SYNC_UPDATES_AVAILABLE",
      body: {
        environment: "production",
        historical_update_complete: true,
        initial_update_complete: true,
        item_id: "wz666MBjYWTp2PDzzggYhM6oWWmBb",
        webhook_code: "SYNC_UPDATES_AVAILABLE",
        webhook_type: "TRANSACTIONS",
      },
    },
  ],
};

const telegram = {
  name: "telegram",
  oracle: documentedBy("https://core.telegram.org/bots/api#setwebhook"),
  secret: "telegram_secret-token_0123",
  sign: ({ secret }) => ({ "x-telegram-bot-api-secret-token": secret }),
  deliveries: [
    {
      title: "a message",
      event: "update",
      body: {
        update_id: 10000,
        message: {
          message_id: 1365,
          date: 1795348798,
          chat: { id: 1111111, type: "private", first_name: "Zoë" },
          from: { id: 1111111, is_bot: false, first_name: "Zoë", username: "zoe" },
          text: "/start",
        },
      },
    },
  ],
};

const okta = {
  name: "okta",
  oracle: documentedBy("https://developer.okta.com/docs/concepts/event-hooks/"),
  secret: "okta-event-hook-secret-0123456789",
  sign: ({ secret }) => ({ authorization: secret }),
  deliveries: [
    {
      title: "a user created",
      event: "user.lifecycle.create",
      body: {
        eventType: "com.okta.event_hook",
        eventTypeVersion: "1.0",
        cloudEventsVersion: "0.1",
        source: "https://acme.okta.com/api/v1/eventHooks/whorcimfr8qAtoYhK0g4",
        eventId: "b5a188b9-5ece-4636-b041-482ffda96311",
        data: {
          events: [
            {
              uuid: "f790999f-fe87-467a-9880-6982a583986c",
              published: "2026-11-22T11:59:58.123Z",
              eventType: "user.lifecycle.create",
              displayMessage: "Create Okta user",
              severity: "INFO",
              actor: { displayName: "Zoë Example", alternateId: "zoe@example.com" },
              target: [{ type: "User", displayName: "Kim Example" }],
            },
          ],
        },
        eventTime: "2026-11-22T11:59:59.000Z",
        contentType: "application/json",
      },
    },
  ],
};

export const documented = [
  typeform,
  calendly,
  intercom,
  sentry,
  gitlab,
  zendesk,
  paystack,
  lemonSqueezy,
  calCom,
  asana,
  jira,
  twitch,
  payPal,
  plaid,
  telegram,
  okta,
].map((vendor) => ({ kind: "document", ...vendor }));
