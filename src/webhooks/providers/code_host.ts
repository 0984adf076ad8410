import type { Event } from "../../events/event.ts";
import type { Message, Severity } from "../../notifications/notification.ts";
import {
  at,
  dataOf,
  firstLineAt,
  idAt,
  idOf,
  ignoredTitle,
  isObject,
  isoTimeAt,
  joined,
  objectAt,
  printable,
  shortHash,
  textAt,
  typeName,
  urlAt,
} from "../payload.ts";
import type { Delivery, JsonObject, Normalised, Provider } from "../provider.ts";

import { samples } from "./code_host.samples.ts";

/** GitHub: https://docs.github.com/en/webhooks. */
export const codeHost: Provider = {
  id: "code_host",
  displayName: "Code host (GitHub)",
  signature: {
    algorithm: "sha256",
    encoding: "hex",
    prefix: "sha256=",
    headers: ["x-codehost-signature-256", "x-hub-signature-256"],
    signed: "raw",
  },
  deliveryIdIsSigned: false,
  readHeaders: ["x-codehost-event", "x-github-event", "x-codehost-delivery", "x-github-delivery"],
  setUp: "use the repository's webhook settings: content type application/json, a new secret",
  // The service sends nothing larger.
  maxBodyBytes: 25 * 1024 * 1024,
  formField: "payload",
  normalise,
  notify: [notifyCode],
  samples,
};

function normalise({ payload, header }: Delivery): Normalised {
  const event = header("x-codehost-event", "x-github-event");
  const shape = shapeOf(payload);
  const type = typeOf(payload, event) ?? shape ?? "unknown";
  // The event header is not signed, the body is: they must agree.
  const accepted = type === shape;
  return {
    status: accepted ? "accepted" : "ignored",
    type,
    deliveryId: idOf(header("x-codehost-delivery", "x-github-delivery")),
    ...(accepted ? listed[shape](payload) : describeOther(payload, type)),
  };
}

/** All of a normalised event that is told by its body alone. */
type Description = Omit<Normalised, "status" | "type" | "deliveryId">;

const listed = {
  "workflow_run.completed": describeRun,
  "package.published": describePackage,
};

/** The listed event that the signed body has the shape of. */
function shapeOf(payload: JsonObject): keyof typeof listed | null {
  const action = at(payload, "action");
  if (action === "completed" && isObject(at(payload, "workflow_run"))) {
    return "workflow_run.completed";
  }
  if (action === "published" && isObject(at(payload, "package"))) return "package.published";
  return null;
}

/** The type that the event header tells, as `issues.opened`; null when none was sent. */
function typeOf(payload: JsonObject, event: string | null): string | null {
  const name = event === null ? null : printable(event);
  return name && typeName(joined(".", name, textAt(payload, "action")));
}

interface Outcome {
  readonly verb: string;
  readonly severity: Severity;
}
const outcomes: ReadonlyMap<string | null, Outcome> = new Map([
  ["success", { verb: "passed", severity: "success" }],
  ["failure", { verb: "failed", severity: "error" }],
  ["timed_out", { verb: "timed out", severity: "error" }],
  ["startup_failure", { verb: "failed to start", severity: "error" }],
  ["cancelled", { verb: "was cancelled", severity: "warning" }],
  ["action_required", { verb: "needs action", severity: "warning" }],
  ["stale", { verb: "went stale", severity: "warning" }],
  ["skipped", { verb: "was skipped", severity: "info" }],
  ["neutral", { verb: "ended neutral", severity: "info" }],
]);

function describeRun(payload: JsonObject): Description {
  const run = objectAt(payload, "workflow_run");
  const runId = idAt(run, "id");
  const workflow = firstLineAt(payload, "workflow", "name") ?? firstLineAt(run, "name");
  const conclusion = firstLineAt(run, "conclusion");
  const verb = outcomes.get(conclusion)?.verb ?? "completed";
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
      `${workflow ?? "Workflow"} ${verb}`,
      branch && ` on ${branch}`,
      headline && `: ${headline}`,
      which && ` (${joined(", attempt ", which, attempt === "1" ? null : attempt)})`,
    ),
    url: urlAt(run, "html_url") ?? urlAt(payload, "repository", "html_url"),
    actor:
      firstLineAt(run, "triggering_actor", "login") ??
      firstLineAt(run, "actor", "login") ??
      senderOf(payload),
    data: dataOf({
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

/** The branch, as `fork-owner:main` for a fork: otherwise each would read as our own main. */
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
  const name = firstLineAt(thing, "name") ?? "(no name)";
  const kind = firstLineAt(thing, "package_type")?.toLowerCase() ?? null;
  const repository = repositoryOf(payload);
  const source = joined(", ", kind, repository);
  return {
    // For containers `created_at` says the year 1.
    occurredAt: isoTimeAt(thing, "updated_at") ?? isoTimeAt(version, "updated_at"),
    subject: packageId && `package/${packageId}`,
    title: joined(" ", `Published ${name}${versionSuffix(version)}`, source && `(${source})`),
    url: urlAt(version, "html_url") ?? urlAt(thing, "html_url"),
    actor: senderOf(payload) ?? firstLineAt(version, "author", "login"),
    data: dataOf({
      package: name,
      version: firstLineAt(version, "version"),
      tag: containerTag(version),
      kind,
      repository,
    }),
  };
}

/** `@1.4.0`; for a container `:latest`, or the digest when it has no tag. */
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
    data: dataOf({ repository }),
  };
}

function repositoryOf(payload: JsonObject): string | null {
  return firstLineAt(payload, "repository", "full_name");
}

function senderOf(payload: JsonObject): string | null {
  return firstLineAt(payload, "sender", "login");
}

function notifyCode(event: Event): Message {
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
