import {
  firstLineAt,
  idAt,
  joined,
  type JsonObject,
  objectAt,
  shortHash,
  textAt,
  unixMillisAt,
  urlAt,
  webUrl,
} from "../../base/payload.ts";
import type { DataFields } from "../../event/data-fields.ts";
import type { EventContent } from "../../event/event.ts";
import type { NewNotification, Severity } from "../../event/new-notification.ts";
import { text } from "../../web/schema.ts";

import { samples } from "./deploy_platform.samples.ts";
import { dataOf, eventNameAt, ignoredTitle, listing, typeName } from "./event-fields.ts";
import type { Interpretation, Provider, VerifiedRequest } from "./provider.ts";

/** Keyed by the service's `type`. The names with a hyphen are its legacy names. */
const listed = listing({
  "deployment.created": "deploy.created",
  "deployment.succeeded": "deploy.succeeded",
  "deployment.error": "deploy.error",
  "deployment.canceled": "deploy.canceled",
  "deployment-ready": "deploy.succeeded",
  "deployment-error": "deploy.error",
  "deployment-canceled": "deploy.canceled",
});

interface Outcome {
  readonly phrase: string;
  readonly severity: Severity;
}
const outcomes: ReadonlyMap<string | undefined, Outcome> = new Map([
  ["deploy.created", { phrase: "started", severity: "info" }],
  ["deploy.succeeded", { phrase: "succeeded", severity: "success" }],
  ["deploy.error", { phrase: "failed", severity: "error" }],
  ["deploy.canceled", { phrase: "was canceled", severity: "warning" }],
]);

const data = {
  pipeline: text("What belongs together: project and target."),
  project: text("The project.", "web"),
  target: text("The environment.", "production"),
  branch: text("The branch.", "main"),
  commit: text("The commit, abbreviated.", "1a2b3c4d5e6f"),
  message: text("The first line of the commit's message."),
  site: text("Where the deployment is reached."),
} as const satisfies DataFields;

/** Vercel: https://vercel.com/docs/webhooks/webhooks-api. */
export const deployPlatform: Provider = {
  id: "deploy_platform",
  displayName: "Vercel",
  signature: {
    kind: "hmac",
    algorithm: "sha1",
    encoding: "hex",
    from: ["header.x-deploy-signature", "header.x-vercel-signature"],
    signs: "{body}",
  },
  deliveryIdIsSigned: true,
  docs: "https://vercel.com/docs/webhooks",
  destinations: ["api.vercel.com"],
  maxBodyBytes: 5 * 1024 * 1024,
  data,
  interpret,
  notify: [notifyDeploy],
  samples,
};

function interpret({ payload }: VerifiedRequest): Interpretation {
  const name = eventNameAt(payload, "type", listed);
  const type = listed.get(name);
  const details = objectAt(payload, "payload");
  const deployment = objectAt(details, "deployment");
  const deploymentId = idAt(deployment, "id");
  const project = firstLineAt(deployment, "name") ?? firstLineAt(details, "name");
  const target = targetOf(details);
  const branch = commitFact(deployment, "Ref");
  const message = commitFact(deployment, "Message");
  const site = siteOf(deployment);
  const outcome = outcomes.get(type);
  return {
    status: type === undefined ? "ignored" : "accepted",
    type: type ?? typeName(name),
    deliveryId: idAt(payload, "id"),
    occurredAt: unixMillisAt(payload, "createdAt"),
    subject: deploymentId && `deployment/${deploymentId}`,
    title: outcome
      ? joined(
          "",
          "Deploy",
          project && ` of ${project}`,
          target && ` to ${target}`,
          ` ${outcome.phrase}`,
          message && `: ${message}`,
          branch && ` (${branch})`,
        )
      : ignoredTitle(typeName(name), project),
    url: urlAt(details, "links", "deployment") ?? site,
    actor:
      commitFact(deployment, "AuthorName") ??
      commitFact(deployment, "AuthorLogin") ??
      idAt(details, "user", "id"),
    data: dataOf(data, {
      pipeline: project && joined(" ", project, target),
      project,
      target: outcome ? target : null,
      branch,
      commit: shortHash(commitFact(deployment, "Sha")),
      message,
      site,
    }),
  };
}

/** The environment. Null means preview, unless the payload has no details at all. */
function targetOf(details: JsonObject): string | null {
  const hasDetails = Object.keys(details).length > 0;
  return firstLineAt(details, "target") ?? (hasDetails ? "preview" : null);
}

/** A field of the commit in the deployment's `meta`, which is empty for deployments from the command line. */
function commitFact(deployment: JsonObject, fact: string): string | null {
  return (
    firstLineAt(deployment, "meta", `githubCommit${fact}`) ??
    firstLineAt(deployment, "meta", `gitlabCommit${fact}`) ??
    firstLineAt(deployment, "meta", `bitbucketCommit${fact}`)
  );
}

/** The URL of the deployment. The payload contains only the host. */
function siteOf(deployment: JsonObject): string | null {
  const host = idAt(deployment, "url");
  return host && /^[\w.-]+$/.test(host) ? webUrl(`https://${host}`) : null;
}

function notifyDeploy(event: EventContent): NewNotification {
  const text = joined(
    " · ",
    event.actor && `by ${event.actor}`,
    textAt(event.data, "commit"),
    textAt(event.data, "site"),
  );
  const severity = outcomes.get(event.type)?.severity ?? "info";
  return { title: event.title, text, url: event.url, severity };
}
