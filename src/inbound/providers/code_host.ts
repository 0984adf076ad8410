import {
  asPayload,
  at,
  firstLineAt,
  idAt,
  idOf,
  isObject,
  isoTimeAt,
  joined,
  type JsonObject,
  objectAt,
  shortHash,
  textAt,
  urlAt,
} from "../../base/payload.ts";
import type { DataFields } from "../../event/data-fields.ts";
import type { EventContent } from "../../event/event.ts";
import type { NewNotification, Severity } from "../../event/new-notification.ts";
import { text } from "../../web/schema.ts";

import { samples } from "./code_host.samples.ts";
import { dataOf, eventNameAt, ignoredTitle, typeName } from "./event-fields.ts";
import type { Interpretation, Provider, VerifiedRequest } from "./provider.ts";

const data = {
  pipeline: text("What belongs together: repository, workflow and branch."),
  workflow: text("The workflow.", "CI"),
  conclusion: text("How the run ended.", "failure"),
  branch: text("The branch.", "main"),
  commit: text("The commit, abbreviated.", "1a2b3c4d5e6f"),
  number: text("The number of the run.", "163"),
  attempt: text("The attempt of the run.", "1"),
  trigger: text("What started the run.", "push"),
  repository: text("The repository.", "acme/web"),
  package: text("The package."),
  version: text("Its version.", "1.4.0"),
  tag: text("The tag of a container.", "latest"),
  kind: text("The kind of package.", "npm"),
} as const satisfies DataFields;

/** GitHub: https://docs.github.com/en/webhooks. */
export const codeHost: Provider = {
  id: "code_host",
  displayName: "GitHub",
  signature: {
    kind: "hmac",
    algorithm: "sha256",
    encoding: "hex",
    prefix: "sha256=",
    from: ["header.x-codehost-signature-256", "header.x-hub-signature-256"],
    signs: "{body}",
  },
  deliveryIdIsSigned: false,
  readHeaders: ["x-codehost-event", "x-github-event", "x-codehost-delivery", "x-github-delivery"],
  docs: "https://docs.github.com/en/webhooks/using-webhooks/creating-webhooks",
  setUp: "Use the repository's webhook settings: content type application/json, a new secret.",
  destinations: ["api.github.com"],
  // GitHub's limit for webhook payloads.
  maxBodyBytes: 25 * 1024 * 1024,
  formField: "payload",
  data,
  interpret,
  notify: [notifyCode],
  samples,
};

function interpret({ payload, header }: VerifiedRequest): Interpretation {
  const deliveryId = idOf(header("x-codehost-delivery", "x-github-delivery"));
  const hint = hintOf(payload, header("x-codehost-event", "x-github-event"));
  const signedName = signedNameOf(payload);
  const name = signedName ?? bareNameOf(payload, hint);
  const type = typeName(name);
  const entry = listed.get(name);
  return {
    status: entry === undefined ? "ignored" : "accepted",
    type,
    deliveryId,
    ...(entry === undefined ? describeOther(payload, type) : entry.describe(payload)),
    ...(signedName === null && { unsignedName: entry === undefined ? "" : type }),
  };
}

/** The fields of an interpreted event that depend only on the body. */
type Description = Omit<Interpretation, "status" | "type" | "deliveryId">;

interface Listed {
  /** The payload member that holds its resource. */
  readonly member: string;
  readonly action: string;
  readonly describe: (payload: JsonObject) => Description;
}
const listed: ReadonlyMap<string | null, Listed> = new Map([
  [
    "workflow_run.completed",
    { member: "workflow_run", action: "completed", describe: describeRun },
  ],
  ["package.published", { member: "package", action: "published", describe: describePackage }],
]);

/** The other events that the service's settings form offers, with the members that identify them. */
const offered = [
  { event: "push", members: ["ref", "commits"] },
  { event: "ping", members: ["zen", "hook_id"] },
  { event: "deployment_status", members: ["deployment_status"] },
  { event: "pull_request", members: ["pull_request", "number"] },
] as const;

/**
 * The name of an event that its body does not name. The header with the name is not signed, so it must not
 * contradict the body: it names a listed event only for a payload without a resource or action, which no real
 * request has.
 */
function bareNameOf(payload: JsonObject, hint: string | null): string | null {
  const hinted = listed.get(hint);
  return hinted === undefined || isBare(payload, hinted.member) ? hint : null;
}

/** The event's name from the signed body, such as `workflow_run.completed`, or null if it does not determine one. */
function signedNameOf(payload: JsonObject): string | null {
  const named = eventNameAt(payload, "event", listed);
  if (listed.has(named)) return named;
  const holds = (member: string) => (at(payload, member) ?? null) !== null;
  const action = textAt(payload, "action");
  const other = offered.find(({ members }) => members.every(holds));
  if (other !== undefined) return joined(".", other.event, action);
  const found = listed
    .entries()
    .find(([, entry]) => entry.action === action && isObject(at(payload, entry.member)));
  return found?.[0] ?? named;
}

/**
 * The event's name from the unsigned header, such as `issues.opened`, or from an action that is a listed
 * name. The action is only a hint too: the caller of `repository_dispatch` chooses it.
 */
function hintOf(payload: JsonObject, event: string | null): string | null {
  const action = textAt(payload, "action");
  if (listed.has(action)) return action;
  if (event === null || action === null || event.endsWith(`.${action}`)) return event;
  return joined(".", event, action);
}

/** Whether no member but `member` and the repository is an object. Real requests have a `sender` or a resource. */
function isBare(payload: JsonObject, member: string): boolean {
  return Object.entries(payload).every(
    ([key, value]) => key === member || key === "repository" || asPayload(value) === null,
  );
}

interface Outcome {
  readonly phrase: string;
  readonly severity: Severity;
}
const outcomes: ReadonlyMap<string | null, Outcome> = new Map([
  ["success", { phrase: "passed", severity: "success" }],
  ["failure", { phrase: "failed", severity: "error" }],
  ["timed_out", { phrase: "timed out", severity: "error" }],
  ["startup_failure", { phrase: "failed to start", severity: "error" }],
  ["cancelled", { phrase: "was cancelled", severity: "warning" }],
  ["action_required", { phrase: "needs action", severity: "warning" }],
  ["stale", { phrase: "went stale", severity: "warning" }],
  ["skipped", { phrase: "was skipped", severity: "info" }],
  ["neutral", { phrase: "ended neutral", severity: "info" }],
]);

function describeRun(payload: JsonObject): Description {
  const run = objectAt(payload, "workflow_run");
  const runId = idAt(run, "id");
  const workflow = firstLineAt(payload, "workflow", "name") ?? firstLineAt(run, "name");
  const conclusion = firstLineAt(run, "conclusion");
  const phrase = outcomes.get(conclusion)?.phrase ?? "completed";
  const branch = branchOf(payload, run);
  const headline = firstLineAt(run, "display_title") ?? firstLineAt(run, "head_commit", "message");
  const number = idAt(run, "run_number");
  const attempt = idAt(run, "run_attempt");
  const repository = repositoryOf(payload);
  const which = joined(" ", repository, number && `#${number}`);
  return {
    occurredAt: isoTimeAt(run, "updated_at"),
    subject: runId && `workflow_run/${runId}`,
    title: joined(
      "",
      `${workflow ?? "Workflow"} ${phrase}`,
      branch && ` on ${branch}`,
      headline && `: ${headline}`,
      which && ` (${joined(", attempt ", which, attempt === "1" ? null : attempt)})`,
    ),
    url: urlAt(run, "html_url") ?? urlAt(payload, "repository", "html_url"),
    actor:
      firstLineAt(run, "triggering_actor", "login") ??
      firstLineAt(run, "actor", "login") ??
      senderOf(payload),
    data: dataOf(data, {
      pipeline: joined(" ", repository, workflow, branch),
      workflow,
      conclusion,
      branch,
      commit: shortHash(firstLineAt(run, "head_sha")),
      number,
      attempt,
      trigger: firstLineAt(run, "event"),
      repository,
    }),
  };
}

/** The branch. For a fork `owner:main`, to distinguish it from the repository's own branch. */
function branchOf(payload: JsonObject, run: JsonObject): string | null {
  const branch = firstLineAt(run, "head_branch");
  const head = firstLineAt(run, "head_repository", "full_name");
  if (branch === null || head === null || head === repositoryOf(payload)) return branch;
  return `${head.split("/", 1)[0]}:${branch}`;
}

function describePackage(payload: JsonObject): Description {
  const thing = objectAt(payload, "package");
  const version = objectAt(thing, "package_version");
  const packageId = idAt(thing, "id");
  const name = firstLineAt(thing, "name");
  const kind = firstLineAt(thing, "package_type")?.toLowerCase() ?? null;
  const repository = repositoryOf(payload);
  const source = joined(", ", kind, repository);
  return {
    // For containers `created_at` is in the year 1.
    occurredAt: isoTimeAt(thing, "updated_at") ?? isoTimeAt(version, "updated_at"),
    subject: packageId && `package/${packageId}`,
    title: joined(
      " ",
      name === null ? "Package published" : `Published ${name}${versionSuffix(version)}`,
      source && `(${source})`,
    ),
    url: urlAt(version, "html_url") ?? urlAt(thing, "html_url"),
    actor: senderOf(payload) ?? firstLineAt(version, "author", "login"),
    data: dataOf(data, {
      package: name,
      version: firstLineAt(version, "version"),
      tag: containerTag(version),
      kind,
      repository,
    }),
  };
}

/** `@1.4.0`. For a container its tag, such as `:latest`, or the digest if it has no tag. */
function versionSuffix(version: JsonObject): string {
  const tag = containerTag(version);
  if (tag !== null) return `:${tag}`;
  const name = firstLineAt(version, "version");
  return name === null ? "" : `@${name.startsWith("sha256:") ? name.slice(0, 19) : name}`;
}

function containerTag(version: JsonObject): string | null {
  return firstLineAt(version, "container_metadata", "tag", "name");
}

function describeOther(payload: JsonObject, type: string): Description {
  const repository = repositoryOf(payload);
  return {
    occurredAt: null,
    subject: repository && `repository/${repository}`,
    title: ignoredTitle(type, repository),
    url: urlAt(payload, "repository", "html_url"),
    actor: senderOf(payload),
    data: dataOf(data, { repository }),
  };
}

function repositoryOf(payload: JsonObject): string | null {
  return firstLineAt(payload, "repository", "full_name");
}

function senderOf(payload: JsonObject): string | null {
  return firstLineAt(payload, "sender", "login");
}

function notifyCode(event: EventContent): NewNotification {
  const conclusion = textAt(event.data, "conclusion");
  const text = joined(
    " · ",
    event.actor && `by ${event.actor}`,
    textAt(event.data, "commit"),
    textAt(event.data, "trigger"),
  );
  const ofRun = outcomes.get(conclusion)?.severity ?? "info";
  const severity = event.type === "package.published" ? "success" : ofRun;
  return { title: event.title, text, url: event.url, severity };
}
