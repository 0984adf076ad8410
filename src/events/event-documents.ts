import { type EventSchemas, keyOf } from "./event-schemas.ts";

const header = (name: string, description: string, example: string) => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string" },
  example,
});

/** Standard Webhooks, "Webhook headers". */
const signature = [
  header("webhook-id", "The same for every attempt.", "ntf_019377b07d4070008000000000000001"),
  header("webhook-timestamp", "The time of the attempt, in Unix seconds.", "1796116364"),
  header(
    "webhook-signature",
    "HMAC-SHA256 of id, time and body with the destination's secret (Standard Webhooks).",
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  ),
];

const response = (description: string) => ({ description });

const responses = {
  "2XX": response("It was accepted. Any other status is an error, and it is sent again."),
  410: response("The destination is disabled: nothing is sent any more."),
  413: response("The message is too large. It is not sent again; a batch is, in smaller ones."),
  429: response("It is sent again, after `Retry-After` if there is one."),
  503: response("It is sent again, after `Retry-After` if there is one."),
};

/** The `webhooks` of the OpenAPI document: one for each type of event. */
export function webhooksOf(catalogue: readonly EventSchemas[]): Record<string, unknown> {
  return Object.fromEntries(
    catalogue.map(({ name, summary, json, cloudevents }) => [
      name,
      {
        post: {
          operationId: `on_${keyOf(name)}`,
          summary,
          tags: ["Events"],
          parameters: signature,
          requestBody: {
            required: true,
            content: { "application/json": json, "application/cloudevents+json": cloudevents },
          },
          responses,
        },
      },
    ]),
  );
}
