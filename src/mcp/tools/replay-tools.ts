import { Type } from "@sinclair/typebox";

import { AppError } from "../../base/errors.ts";
import { positionIn } from "../../base/ids.ts";
import { eventsAt } from "../../event/events.sql.ts";
import { replayInputSchema } from "../../events/replay-input.ts";
import { type ReplayPreview, replayPreviewSchema } from "../../events/replay.schema.ts";
import { type ReplayFailure, replaySchema } from "../../events/replay.ts";
import { listAnswer } from "../answer.ts";
import { anyObject, membersOf, pageOf, shape, text, untrusted } from "../output.ts";
import { type AgentServices, tool } from "../tool.ts";
import { isVisible, shownReplay, shownReplayFailure } from "../untrusted.ts";

import { pageIn, pageInput, shortText, withoutDescriptions } from "./inputs.ts";

/** Titles and values were written by senders. */
function shownPreview({ examples, newest, ...preview }: ReplayPreview) {
  return {
    ...preview,
    untrusted: { examples: examples.filter(isVisible), newest: newest.filter(isVisible) },
  };
}

/** Leaves out failures about bookings, and those whose event was deleted: it could be about one. */
async function visibleFailures({ storage }: AgentServices, failures: readonly ReplayFailure[]) {
  const events = await storage.all(eventsAt, {
    positions: failures.map(({ id }) => positionIn(id)),
  });
  const visible = new Set(events.filter(isVisible).map(({ id }) => id));
  return failures.filter(({ id }) => visible.has(id));
}

export const previewReplay = tool({
  name: "preview_replay",
  title: "Preview a replay",
  description:
    "What a replay of many events would do, without doing it: how many, which are interpreted differently now, and who is notified a second time.",
  input: replayInputSchema,
  output: shape({ ...membersOf(replayPreviewSchema, "examples", "newest"), ...untrusted }),
  needs: null,
  run: async ({ replays }, agent, filters) => shownPreview(await replays.preview(agent, filters)),
});

const replayMembers = membersOf(replaySchema, "lastError");

export const getReplay = tool({
  name: "get_replay",
  title: "Get a replay",
  description:
    "Progress and result of a replay, by `id`: its counts, and its failed events, the last first. Without `id`: replays, newest first.",
  input: Type.Object({ id: Type.Optional(shortText("The replay's id, `rpl_…`.")), ...pageInput }),
  output: shape({
    ...pageOf(replayMembers).properties,
    replay: anyObject,
    failures: pageOf({ id: text, createdAt: text, ...untrusted }),
  }),
  needs: null,
  async run(services, agent, { id, ...given }) {
    const { replays } = services;
    if (id === undefined) {
      return listAnswer(await replays.list(agent, pageIn(given, "rpl_")), shownReplay);
    }
    const page = await replays.failures(agent, id, pageIn(given, "evt_"));
    const data = await visibleFailures(services, page.data);
    return {
      replay: shownReplay(await replays.read(agent, id)),
      failures: listAnswer({ ...page, data }, shownReplayFailure),
    };
  },
});

export const startReplay = tool({
  name: "start_replay",
  title: "Start a replay",
  description:
    "Replays the events of `filters`, those of preview_replay. Needs the `total` that preview_replay gave for the same filters, so give `to` there too. People may be notified a second time. Its progress: get_replay.",
  input: Type.Object({
    filters: withoutDescriptions(replayInputSchema),
    expectedTotal: Type.Integer({ minimum: 0, description: "`total` of preview_replay." }),
  }),
  // As `replay` of get_replay.
  output: anyObject,
  needs: "writes",
  isDestructive: true,
  async run({ replays }, agent, { filters, expectedTotal }) {
    const { total } = await replays.preview(agent, filters);
    if (total !== expectedTotal) {
      const detail = `${total} events match now, not ${expectedTotal}. Call preview_replay again.`;
      throw new AppError("bad-request", detail);
    }
    return shownReplay(await replays.start(agent, filters));
  },
});
