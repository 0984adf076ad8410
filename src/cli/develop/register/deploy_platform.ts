import { idAt, printable, textAt } from "../../../base/payload.ts";
import { type Answer, problemOf, request } from "../../kit/request.ts";

import {
  apiUrlOf,
  printRequest,
  type Registration,
  requireStorable,
  requireWritable,
  storeSecret,
  tokenOf,
  webhookUrl,
} from "./registration.ts";

const events = [
  "deployment.created",
  "deployment.succeeded",
  "deployment.error",
  "deployment.canceled",
];

/** https://vercel.com/docs/rest-api */
const defaultApiUrl = "https://api.vercel.com";

/** Creates a webhook at Vercel, whose response has its secret. */
export async function registerDeployPlatform(registration: Registration): Promise<void> {
  const { options, env } = registration;
  const url = webhookUrl(registration);
  const target = `${apiUrlOf(registration, defaultApiUrl)}/v1/webhooks`;
  const body = JSON.stringify({ url, events });
  if (options.dryRun) return printRequest(target, "application/json", body);
  const token = tokenOf(registration, "DEPLOY_API_TOKEN", env["DEPLOY_API_TOKEN"]);
  requireWritable(registration);
  await requireStorable(registration);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await request(target, { method: "POST", headers, body }, "check --api-url");
  const { secret, webhookId } = secretIn(answer);
  storeSecret(registration, secret, webhookId);
}

function secretIn(answer: Answer): { readonly secret: string; readonly webhookId: string | null } {
  if (!answer.ok) throw new Error(explained(answer));
  if (answer.json === null) {
    throw new Error(
      `The platform's response ${answer.status} is not a JSON object: check --api-url`,
    );
  }
  const { secret } = answer.json;
  if (typeof secret === "string" && secret.trim() !== "") {
    return { secret: secret.trim(), webhookId: idAt(answer.json, "id") };
  }
  throw new Error(
    "The platform's response has no secret, so nothing was stored: delete the webhook there and try again",
  );
}

function explained(answer: Answer): string {
  const { status, location, json } = answer;
  const said = printable(textAt(json, "error", "message") ?? problemOf(answer), 200);
  if (status === 401)
    return `The platform rejects the token (401: ${said}): create a new one there`;
  if (status === 403) {
    return `The platform forbids it (403: ${said}): account-level webhooks need a paid plan, and a token with the permission to create them`;
  }
  if (status >= 300 && status < 400) {
    return `The platform redirects (${status}) to ${location ?? "nowhere"}: pass that as --api-url`;
  }
  if (status === 404) return `The platform answers 404 (${said}): check --api-url`;
  return `The platform answers ${status}: ${said}`;
}
