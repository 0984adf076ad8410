import { systemClock } from "../../../base/clock.ts";
import { idAt, itemsAt, type JsonObject, textAt } from "../../../base/payload.ts";
import { secretPlaces, secretStore } from "../../../config/secrets.ts";
import { ApiError } from "../../../inbound/provider-api/api-error.ts";
import { githubApi } from "../../../inbound/provider-api/github.ts";
import {
  nextPageParameter,
  objectsIn,
  type ProviderApi,
} from "../../../inbound/provider-api/provider-api.ts";
import { UsageError } from "../../kit/output.ts";

import {
  apiUrlOf,
  printEnd,
  printReload,
  printRequest,
  type Registration,
  requireWritable,
  tokenOf,
  webhookUrl,
} from "./registration.ts";

/** The events of the `listed` map of the provider. */
const events = ["workflow_run", "package"];
const permission =
  "the permission Webhooks: write (fine-grained), or the scope admin:repo_hook, for an organization admin:org_hook (classic)";

/**
 * Creates the webhook of a repository or an organization at GitHub, or updates the one with this URL. The
 * secret is the stored one, or a new one that is stored before it is sent, so that a repeated call succeeds.
 * https://docs.github.com/en/rest/repos/webhooks#create-a-repository-webhook
 */
export async function registerCodeHost(registration: Registration): Promise<void> {
  const { options, config } = registration;
  const owner = ownerOf(registration);
  const url = webhookUrl(registration);
  const apiUrl = apiUrlOf(registration, config.codeHostApiUrl);
  const path = `/${owner}/hooks`;
  const body = (secret: string) => ({
    name: "web",
    active: true,
    events,
    config: { url, content_type: "json", insecure_ssl: "0", secret },
  });
  if (options.dryRun) {
    const text = JSON.stringify(body("<secret>"));
    printRequest(`${apiUrl}${path}`, "application/json", text);
    return;
  }
  const token = tokenOf(registration, "CODE_HOST_API_TOKEN", config.codeHostApiToken);
  requireWritable(registration);
  const api = githubApi({ apiUrl, token }, { clock: systemClock });
  try {
    const existing = await findHook(api, path, url);
    const { secret, isNew } = secretFor(registration);
    const id = idAt(existing, "id");
    const { body: hook } =
      id === null
        ? await api.send({ method: "POST", path, json: body(secret) })
        : await api.send({
            method: "PATCH",
            path: `${path}/${encodeURIComponent(id)}`,
            json: { ...body(secret), events: [...new Set([...namesIn(existing), ...events])] },
          });
    const hookId = idAt(hook, "id") ?? id;
    printEnd(registration, id === null ? "registered" : "updated", hookId);
    printSecret(registration, isNew);
    console.log(`to recover lost deliveries, set CODE_HOST_HOOK=${owner}/hooks/${hookId}`);
  } catch (error) {
    throw explained(error);
  }
}

/** `repos/OWNER/REPO` or `orgs/ORG`. */
function ownerOf({ options: { repo, org } }: Registration): string {
  if ((repo === undefined) === (org === undefined)) {
    throw new UsageError("Pass --repo OWNER/REPO, or --org ORG for all of its repositories");
  }
  const name = /^(?!\.+$)[\w.-]{1,100}$/;
  const parts = (repo ?? org ?? "").split("/");
  if (parts.length !== (repo === undefined ? 1 : 2) || !parts.every((part) => name.test(part))) {
    throw new UsageError("Write the repository as OWNER/REPO, or the organization as its name");
  }
  return repo === undefined ? `orgs/${org}` : `repos/${repo}`;
}

/** The webhook with this URL, or undefined. */
async function findHook(
  api: ProviderApi,
  path: string,
  url: string,
): Promise<JsonObject | undefined> {
  let page: string | null = "1";
  while (page !== null) {
    const response = await api.send({
      method: "GET",
      path,
      query: [
        ["per_page", "100"],
        ["page", page],
      ],
    });
    const hooks = objectsIn(api, response.body);
    const found = hooks.find((hook) => textAt(hook, "config", "url") === url);
    if (found !== undefined) return found;
    const next = nextPageParameter(response, "page");
    page = Number(next) > Number(page) ? next : null;
  }
  return undefined;
}

const namesIn = (hook: JsonObject | undefined) =>
  itemsAt(hook, "events").filter((event) => typeof event === "string");

/** The stored secret, or a new one that is stored now. */
function secretFor({ provider, config, env }: Registration) {
  const store = secretStore(env, config.secretsDir);
  const known = store.webhookSecrets(provider.id)?.current;
  if (known !== undefined) return { secret: known, isNew: false };
  const secret = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("hex");
  store.createWebhookSecret(provider.id, secret);
  return { secret, isNew: true };
}

function printSecret({ provider, config, env }: Registration, isNew: boolean): void {
  const { variable, file } = secretPlaces(provider.id, config.secretsDir).current;
  if (isNew) {
    console.log(`its secret is in ${file}`);
    printReload();
  } else console.log(`its secret is that of ${env[variable] === undefined ? file : variable}`);
}

function explained(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.status === 401)
    return new Error(`${error.message}. Create a new token with ${permission}`);
  if (error.status === 403 || error.status === 404) {
    return new Error(`${error.message}. Check the name, and that the token has ${permission}`);
  }
  return error;
}
