import { Type } from "@sinclair/typebox";

import { readFilters } from "../../base/filters.ts";
import { maxLimit } from "../../base/page.ts";
import { rejectionFilters } from "../../inbound/rejections/rejection-filters.ts";
import { explainedRejectionSchema } from "../../inbound/rejections/rejection.schema.ts";
import { issueSchema } from "../../operations/issues/issue.ts";
import { muteEnd } from "../../operations/issues/mute-end.ts";
import { listAnswer } from "../answer.ts";
import { anyObject, integer, membersOf, shape, text, untrusted } from "../output.ts";
import { tool } from "../tool.ts";
import { shownDestination, shownExplanation, shownIssue, shownRejection } from "../untrusted.ts";

import { filterInput, pageIn, pageInput, shortText } from "./inputs.ts";

const newestIssues = 10;

export const overview = tool({
  name: "overview",
  title: "Overview",
  description:
    "Begin here: what is wrong now, which providers are silent, the state of each destination, and what waits to be sent.",
  input: Type.Object({}),
  output: shape({
    now: text,
    version: text,
    notifications: anyObject,
    issues: Type.Array(anyObject),
    issueCount: integer,
    providers: Type.Array(anyObject),
    destinations: Type.Array(anyObject),
  }),
  needs: null,
  async run({ issues, providers, destinations, withHealth, statistics, clock }, agent) {
    const [found, known, health, page] = await Promise.all([
      issues.list(agent),
      providers.list(agent),
      statistics.health(agent),
      destinations.list(agent, pageIn({ limit: maxLimit }, "dst_"), { owner: "operators" }),
    ]);
    const data = await withHealth(page.data);
    return {
      now: new Date(clock.now()),
      version: health.version,
      notifications: health.outbox,
      issues: found.data.slice(0, newestIssues).map(shownIssue),
      issueCount: found.data.length,
      providers: known.data
        .filter(({ hasSecret }) => hasSecret)
        .map(({ provider, displayName, lastEventAt, isSilent }) => {
          return { provider, displayName, lastEventAt, isSilent };
        }),
      destinations: data.map((each) => {
        const { id, name, state, health: of } = shownDestination(each);
        return { id, name, state, circuit: of?.circuit, waiting: of?.waiting, dead: of?.dead };
      }),
    };
  },
});

const issueMembers = { ...membersOf(issueSchema, "cause"), ...untrusted };

export const listIssues = tool({
  name: "list_issues",
  title: "List issues",
  description:
    "What is wrong now, the most urgent first: failing destinations, dead deliveries, rejected webhooks, silent providers; each with its cause, its count and what to do.",
  input: Type.Object({}),
  output: shape({ issues: Type.Array(shape(issueMembers)) }),
  needs: null,
  run: async ({ issues }, agent) => ({ issues: (await issues.list(agent)).data.map(shownIssue) }),
});

export const explainRejection = tool({
  name: "explain_rejection",
  title: "Explain rejections",
  description:
    "Why a webhook was rejected and what to do, by `id`. Without `id`: rejected webhooks, newest first, each with its cause.",
  input: Type.Object({
    id: Type.Optional(shortText("The rejection's id, `rej_…`.")),
    ...filterInput(rejectionFilters),
    ...pageInput,
  }),
  output: shape({
    ...membersOf(explainedRejectionSchema, "headers", "requestId"),
    ...untrusted,
    items: Type.Array(anyObject),
    nextCursor: text,
  }),
  needs: null,
  async run({ rejections }, agent, { id, ...given }) {
    if (id !== undefined) return shownExplanation(await rejections.explain(agent, id));
    const filters = readFilters(rejectionFilters, given);
    const request = pageIn(given, "rej_");
    const page = await rejections.list(agent, request, filters, { cause: true });
    return listAnswer(page, shownRejection);
  },
});

export const providerStatus = tool({
  name: "provider_status",
  title: "Status of providers",
  description:
    "For each provider, or one: last event, usual interval, since when it is silent, rotation of its secret, comparison with its own log.",
  input: Type.Object({ provider: Type.Optional(shortText("The provider's id.", "code_host")) }),
  output: shape({ providers: Type.Array(anyObject) }),
  needs: null,
  async run({ providers }, agent, { provider }) {
    const { data } = await providers.list(agent);
    return { providers: data.filter((each) => (provider ?? each.provider) === each.provider) };
  },
});

export const muteIssue = tool({
  name: "mute_issue",
  title: "Mute an issue",
  description: "Hides an issue in the console until a time. Nothing is lost.",
  input: Type.Object({
    id: shortText("The issue's id, `iss_…`."),
    until: shortText("When it is shown again.", "2026-12-01T08:00:00Z"),
  }),
  // As in list_issues.
  output: anyObject,
  needs: "writes",
  isIdempotent: true,
  run: async ({ issues, clock }, agent, { id, until }) =>
    shownIssue(await issues.mute(agent, id, muteEnd({ until }, clock.now()))),
});
