import { afterAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Severity } from "../../../../src/event/new-notification.ts";
import { readProvider } from "../../../../src/inbound/providers/files/folder.ts";
import { signedSample } from "../../../../src/inbound/providers/signed-sample.ts";
import {
  developmentSecret,
  signingKeyWith,
} from "../../../../src/inbound/signatures/development-secret.ts";
import { json } from "../../../support/app.ts";
import { appForAll } from "../../../support/running-app.ts";

/** A delivery that reports a failure, and the severity of its notification. */
type Row = readonly [provider: string, severity: Severity, body: object, headers?: object];

const rows: readonly Row[] = [
  ["chargebee", "error", { id: "ev_1", event_type: "payment_failed" }],
  ["chargebee", "warning", { id: "ev_2", event_type: "add_usages_reminder" }],
  ["checkout_com", "error", { id: "evt_1", type: "payment_capture_declined", data: {} }],
  ["coinbase_commerce", "error", { event: { id: "1", type: "charge:delayed" } }],
  ["duffel", "error", { id: "wev_1", type: "order.creation_failed", data: {} }],
  ["duffel", "warning", { id: "wev_2", type: "order.airline_initiated_change_detected" }],
  ["mollie", "error", { id: "event_1", type: "refund.failed" }],
  ["woocommerce", "error", { id: 7, status: "failed" }, { "x-wc-webhook-topic": "order.updated" }],
  ["adyen", "error", { type: "balancePlatform.balanceAccountPayoutScheduleExecution.failed" }],
  ["box", "error", { id: "1", trigger: "SIGN_REQUEST.SIGN_ERROR_FINALIZING" }],
  ["cal_com", "error", { triggerEvent: "DELEGATION_CREDENTIAL_ERROR", payload: {} }],
  ["customer_io", "error", { event_id: "1", object_type: "email", metric: "dropped" }],
  ["gitlab", "error", { object_kind: "build", build_status: "failed", build_id: 7 }],
  ["gitlab", "warning", { object_kind: "access_token", object_attributes: { id: 25 } }],
  // The failure is not the first of its delivery.
  [
    "gocardless",
    "error",
    {
      events: [
        { id: "EV1", resource_type: "payments", action: "submitted" },
        { id: "EV2", resource_type: "creditors", action: "bounced_payout" },
      ],
    },
  ],
  ["intercom", "warning", rated(1)],
  ["intercom", "success", rated(5)],
  ["jira", "warning", { webhookEvent: "jira_expression_evaluation_failed" }],
  ["lemon_squeezy", "warning", { meta: { event_name: "subscription_payment_failed" } }],
  ["line", "error", { events: [{ webhookEventId: "1", type: "botSuspended" }] }],
  ["linear", "error", { type: "IssueSLA", action: "breached" }, { "linear-delivery": "1" }],
  ["linear", "error", { type: "ProjectUpdate", action: "create", data: { health: "offTrack" } }],
  ["mailgun", "error", { signature: { token: "1" }, "event-data": { event: "rejected" } }],
  ["mux", "error", { id: "1", type: "video.upload.errored" }],
  ["mux", "error", { id: "2", type: "video.asset.track.errored" }],
  ["mux", "error", { id: "3", type: "robots.job.summarize.errored" }],
  ["notion", "error", { id: "1", type: "file_upload.upload_failed" }],
  ["okta", "warning", { data: { events: [{ uuid: "1", eventType: "user.account.lock" }] } }],
  ["onfido", "warning", completed("declined")],
  ["onfido", "error", completed("error")],
  ["openai", "error", { type: "batch.expired" }, { "webhook-id": "1" }],
  ["openai", "warning", { type: "batch.cancelled" }, { "webhook-id": "2" }],
  ["openai", "warning", { type: "response.incomplete" }, { "webhook-id": "3" }],
  ["openai", "error", { type: "eval.run.failed" }, { "webhook-id": "4" }],
  ["postmark", "error", { RecordType: "Bounce", Type: "HardBounce", ID: 1 }],
  ["cloudflare", "error", { alert_type: "http_alert_origin_error" }],
  ["cloudflare", "warning", { alert_type: "tunnel_health_event" }],
  ["cloudflare", "warning", { alert_type: "billing_usage_alert" }],
  ["elevenlabs", "error", { type: "call_initiation_failure", data: {} }],
  ["forgejo", "error", { action: "failure" }, { "x-forgejo-event": "action_run_failure" }],
  ["gitea", "error", { state: "failure" }, { "x-gitea-event": "status" }],
  [
    "gitea",
    "error",
    { action: "completed", workflow_job: { conclusion: "failure" } },
    { "x-gitea-event": "workflow_job" },
  ],
  ["heroku", "error", { id: "1", resource: "build", action: "update", data: { status: "failed" } }],
  ["heroku", "error", { id: "2", resource: "dyno", action: "update", data: { state: "crashed" } }],
  ["launchdarkly", "warning", { _id: "1", kind: "flag", accesses: [{ action: "deleteFlag" }] }],
  [
    "livekit",
    "error",
    { id: "1", event: "ingress_ended", ingressInfo: { state: { status: "ENDPOINT_ERROR" } } },
  ],
  ["polar", "error", { type: "subscription.past_due", data: {} }, { "webhook-id": "1" }],
  ["replicate", "error", { id: "p1", status: "failed" }, { "webhook-id": "1" }],
  [
    "snyk",
    "error",
    { project: {}, newIssues: [{ issueData: { severity: "critical" } }] },
    { "x-snyk-event": "project_snapshot/v0" },
  ],
  ["sonarqube", "error", { taskId: "1", status: "FAILED" }],
  ["workos", "error", { id: "9", event: "pipes.connected_account.connection_failed", data: {} }],
  ["paddle", "warning", { event_id: "evt_1", event_type: "transaction.past_due" }],
  ["paddle", "warning", { event_id: "evt_2", event_type: "subscription.paused" }],
  ["paddle", "error", { event_id: "evt_3", event_type: "api_key_exposure.created" }],
  ["pagerduty", "error", { event: { id: "1", event_type: "incident.escalated" } }],
  ["pagerduty", "error", { event: { id: "2", event_type: "incident.reopened" } }],
  ["pagerduty", "error", { event: { id: "3", event_type: "incident.unacknowledged" } }],
  ["paystack", "warning", { event: "charge.failed", data: { reference: "r1" } }],
  ["paystack", "error", { event: "refund.failed", data: { reference: "r1" } }],
  ["paystack", "error", { event: "transfer.reversed", data: { reference: "r1" } }],
  ["razorpay", "error", { event: "refund.failed", payload: {} }],
  ["razorpay", "error", { event: "payment.dispute.created", payload: {} }],
  ["razorpay", "error", { event: "subscription.halted", payload: {} }],
  ["resend", "error", { type: "email.failed", data: {} }, { "svix-id": "msg_1" }],
  ["resend", "warning", { type: "email.suppressed", data: {} }, { "svix-id": "msg_2" }],
  [
    "resend",
    "error",
    { type: "domain.updated", data: { status: "failed" } },
    { "svix-id": "msg_3" },
  ],
  [
    "sentry",
    "error",
    { action: "critical", data: {} },
    { "request-id": "1", "sentry-hook-resource": "metric_alert" },
  ],
  [
    "sentry",
    "error",
    { action: "size_analysis_completed", data: { state: "FAILED" } },
    { "request-id": "2", "sentry-hook-resource": "preprod_artifact" },
  ],
  ...["customers/data_request", "customers/redact", "shop/redact"].map((topic): Row => [
    "shopify",
    "warning",
    { shop_id: 1, topic },
    { "x-shopify-topic": topic },
  ]),
  ["shopify", "error", { id: 5 }, { "x-shopify-topic": "subscription_billing_attempts/failure" }],
  ["slack", "error", { event_id: "Ev1", event: { type: "tokens_revoked" } }],
  ["square", "error", { event_id: "1", type: "payout.failed" }],
  ["square", "error", dispute("2", "LOST")],
  ["square", "success", dispute("3", "WON")],
  ["square", "error", { event_id: "4", type: "invoice.scheduled_charge_failed" }],
  [
    "telegram",
    "error",
    { update_id: 1, my_chat_member: { new_chat_member: { status: "kicked" } } },
  ],
  ["twilio", "warning", { CallSid: "CA1", CallStatus: "no-answer" }],
  ["twilio", "warning", { CallSid: "CA1", CallStatus: "busy" }],
  ["twilio", "error", { CallSid: "CA1", CallStatus: "failed" }],
  ["twilio", "error", { MessageSid: "SM1", MessageStatus: "undelivered" }],
  ["twilio", "error", { Sid: "NO1", Level: "ERROR" }],
  [
    "twitch",
    "error",
    { subscription: { type: "channel.follow", status: "authorization_revoked" } },
    { "twitch-eventsub-message-id": "1", "twitch-eventsub-message-type": "revocation" },
  ],
  ["webflow", "warning", { triggerType: "page_deleted", payload: {} }],
  ["workos", "error", { id: "1", event: "connection.deleted" }],
  ["workos", "error", { id: "2", event: "organization_domain.verification_failed" }],
  ["workos", "error", { id: "3", event: "authentication.radar_risk_detected" }],
  ["workos", "warning", { id: "4", event: "authentication.password_failed" }],
  ["workos", "error", { id: "5", event: "dsync.deleted" }],
  [
    "sendgrid",
    "error",
    [
      { sg_event_id: "1", event: "delivered" },
      { sg_event_id: "2", event: "dropped" },
    ],
  ],
  ["whatsapp", "error", status("failed")],
  ["whatsapp", "error", change("message_template_status_update", { event: "REJECTED" })],
  ["whatsapp", "warning", change("message_template_status_update", { event: "LOCKED" })],
  ["whatsapp", "warning", change("messages", { errors: [{ code: 131000, title: "Down" }] })],
  ["zendesk", "warning", { id: "1", type: "zen:event-type:ticket.marked_as_spam" }],
  ["zoom", "error", { event: "phone.recording_failed", event_ts: 1 }],
  ["zoom", "warning", { event: "meeting.alert", event_ts: 2 }],
];

function rated(rating: number) {
  const item = { type: "conversation", conversation_rating: { rating } };
  return { id: `notif_${rating}`, topic: "conversation.rating.added", data: { item } };
}

function completed(status: string) {
  return { payload: { action: "workflow_run.completed", object: { id: "1", status } } };
}

function dispute(id: string, state: string) {
  return {
    event_id: id,
    type: "dispute.state.updated",
    data: { object: { dispute: { state, amount_money: { amount: 4200, currency: "JPY" } } } },
  };
}

function status(status: string) {
  return change("messages", { statuses: [{ id: "wamid.1", status, recipient_id: "16505551234" }] });
}

function change(field: string, value: object) {
  return { entry: [{ id: "1", changes: [{ field, value }] }] };
}

const folder = mkdtempSync(join(tmpdir(), "skyhook-failures-"));
afterAll(() => rmSync(folder, { recursive: true }));
const catalogue = join(import.meta.dir, "../../../../src/inbound/providers/files/catalogue");

const providers = new Map(
  [...new Set(rows.map(([id]) => id))].map((id) => {
    const path = join(folder, `${id}.yaml`);
    cpSync(join(catalogue, `${id}.yaml`), path);
    const provider = readProvider(id, path);
    const made = developmentSecret(provider.signature, provider.secretPrefix);
    if (made === null) throw new Error(`Only ${id} itself can sign`);
    return [id, { provider, made }];
  }),
);
const secrets = [...providers].map(([id, { made }]) => [
  `${id.toUpperCase()}_WEBHOOK_SECRET`,
  made.secret,
]);
const publicUrl = "https://hooks.example.com";
const app = appForAll({
  PROVIDERS_DIR: folder,
  PUBLIC_URL: publicUrl,
  ...Object.fromEntries(secrets),
});

test.each(rows)(
  "%s notifies with severity %s of %j %j",
  async (id, severity, body, headers = {}) => {
    const { provider, made } = providers.get(id) ?? {};
    if (provider === undefined || made === undefined) throw new Error(`There is no ${id}`);
    const sample = () => ({
      headers: { ...headers },
      body: Array.isArray(body) ? body : { ...body },
    });
    const fresh = { id: crypto.randomUUID(), now: new Date(app.clock.now()) };
    const url = `${publicUrl}/webhooks/${id}`;
    const signed = signedSample(provider, sample, signingKeyWith(made), fresh, { url });
    const request = { method: "POST", headers: signed.headers, body: signed.bytes };
    const answer = await json(await app.fetch(`/webhooks/${id}`, request));
    expect(answer).toMatchObject({ status: "accepted" });
    const { data } = await json(await app.as("operator", "/v1/notifications?limit=1"));
    expect(data).toMatchObject([{ severity }]);
  },
);
