import { systemClock } from "../../../base/clock.ts";
import { at, idAt, isTrueAt, itemsAt, type JsonObject, textAt } from "../../../base/payload.ts";
import { secretPlaces, secretStore } from "../../../config/secrets.ts";
import { ApiError } from "../../../inbound/provider-api/api-error.ts";
import {
  type Field,
  objectsIn,
  type ProviderApi,
  providerApi,
} from "../../../inbound/provider-api/provider-api.ts";

import {
  apiUrlOf,
  printEnd,
  printRequest,
  type Registration,
  requireStorable,
  requireWritable,
  storeSecret,
  tokenOf,
  webhookUrl,
} from "./registration.ts";

const path = "/v1/webhook_endpoints";
const permission = "a secret key, or a restricted key with Webhook Endpoints: write";

/**
 * Creates a webhook endpoint at Stripe, whose response has its secret, or updates the one with this URL, of
 * which Stripe does not tell the secret. https://docs.stripe.com/api/webhook_endpoints/create
 */
export async function registerPaymentProcessor(registration: Registration): Promise<void> {
  const { provider, options, config } = registration;
  const url = webhookUrl(registration);
  const apiUrl = apiUrlOf(registration, config.paymentProcessorApiUrl);
  const events = Object.keys(provider.samples);
  const form: Field[] = [["url", url], ["description", "Skyhook"], ...enabled(events)];
  if (options.dryRun) {
    const type = "application/x-www-form-urlencoded";
    printRequest(`${apiUrl}${path}`, type, new URLSearchParams(form).toString());
    return;
  }
  const { paymentProcessorApiToken: configured } = config;
  const token = tokenOf(registration, "PAYMENT_PROCESSOR_API_TOKEN", configured);
  requireWritable(registration);
  const api = providerApi({ apiUrl, token }, { clock: systemClock });
  try {
    const existing = await findEndpoint(api, url);
    if (existing !== undefined) return await update(registration, api, existing, events);
    await requireStorable(registration);
    const { body } = await api.send({ method: "POST", path, form });
    const secret = textAt(body, "secret");
    if (secret === null) throw new ApiError(`${api.host} answers without a secret`, 200);
    storeSecret(registration, secret, idAt(body, "id"));
  } catch (error) {
    throw explained(error);
  }
}

const enabled = (events: readonly string[]) =>
  events.map((event): Field => ["enabled_events[]", event]);

async function update(
  registration: Registration,
  api: ProviderApi,
  endpoint: JsonObject,
  events: readonly string[],
): Promise<void> {
  const { provider, config, env } = registration;
  const id = idAt(endpoint, "id");
  if (id === null) throw new ApiError(`${api.host} lists an endpoint without an id`, 200);
  if (secretStore(env, config.secretsDir).webhookSecrets(provider.id) === null) {
    const { file } = secretPlaces(provider.id, config.secretsDir).current;
    throw new Error(
      `The endpoint ${id} has this URL, but its secret is not stored: copy it from the dashboard into ${file}, or delete the endpoint there, then try again`,
    );
  }
  const before = itemsAt(endpoint, "enabled_events").filter((event) => typeof event === "string");
  const wanted = before.includes("*") ? ["*"] : [...new Set([...before, ...events])];
  await api.send({
    method: "POST",
    path: `${path}/${encodeURIComponent(id)}`,
    form: [["disabled", "false"], ...enabled(wanted)],
  });
  printEnd(registration, "updated", id);
}

/** The endpoint with this URL, or undefined. */
async function findEndpoint(api: ProviderApi, url: string): Promise<JsonObject | undefined> {
  let after: string | null = null;
  for (;;) {
    const query: Field[] = [["limit", "100"]];
    if (after !== null) query.push(["starting_after", after]);
    const { body } = await api.send({ method: "GET", path, query });
    const endpoints = objectsIn(api, at(body, "data"));
    const found = endpoints.find((endpoint) => at(endpoint, "url") === url);
    const last = idAt(endpoints.at(-1), "id");
    if (found !== undefined || !isTrueAt(body, "has_more") || last === after) return found;
    after = last;
  }
}

function explained(error: unknown): unknown {
  if (!(error instanceof ApiError) || (error.status !== 401 && error.status !== 403)) return error;
  return new Error(`${error.message}. The token must be ${permission}`);
}
