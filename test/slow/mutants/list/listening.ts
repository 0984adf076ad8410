import type { Mutant } from "../mutant.ts";

export const listening: readonly Mutant[] = [
  // Listeners miss nothing.
  {
    name: "position-stored-before-the-answer",
    breaks: "a listener that is killed before the local answer sends the delivery again",
    changes: [
      [
        "src/cli/listen.ts",
        "const delivery = event === null ? null : deliveryIn(event);",
        "state.save({ seq }); const delivery = event === null ? null : deliveryIn(event);",
      ],
    ],
    noticedBy: [
      "test/slow/cli/listen.test.ts",
      "sends a delivery again whose answer it did not live to see",
    ],
  },
  {
    name: "reconnected-without-position",
    breaks: "a listener that reconnects misses nothing",
    changes: [["src/cli/event-source.ts", "        last = message.seq;\n", ""]],
    noticedBy: ["test/slow/cli/listen-hour.test.ts", "three listeners, one asleep for an hour"],
  },
  {
    name: "stream-token-reused",
    breaks: "a listener reconnects with a token that is still valid",
    changes: [
      [
        "src/cli/server-tokens.ts",
        "return () => minting.mint(actor, ttlSeconds);",
        "const once = minting.mint(actor, ttlSeconds);\n  return () => once;",
      ],
    ],
    noticedBy: ["test/slow/cli/listen-hour.test.ts", "three listeners, one asleep for an hour"],
  },
  {
    name: "start-not-remembered",
    breaks: "a listener that saw nothing yet continues where it started",
    changes: [
      ["src/events/event-streams.ts", "yield { seq: afterSeq, event: null };", "// Nothing."],
    ],
    noticedBy: [
      "test/events/event-streams.test.ts",
      "begins with its position, so that a client that sees no event can resume",
    ],
  },
  {
    name: "ignored-events-wake-nobody",
    breaks: "events without notifications reach those who follow",
    changes: [
      [
        "src/inbound/receive/store-delivery.ts",
        "  outbox.committed(event);\n",
        "  if (notifications.length > 0) outbox.committed(event);\n",
      ],
    ],
    noticedBy: [
      "test/events/event-streams.test.ts",
      "sends ignored and unreadable events too, with their severity",
    ],
  },
  {
    name: "bodies-read-unrecorded",
    breaks: "the audit list says who reads bodies",
    changes: [
      [
        "src/events/event-streams.ts",
        "if (withBody) {\n      const {",
        "if (Object.is(withBody, null)) {\n      const {",
      ],
    ],
    noticedBy: [
      "test/events/event-streams.test.ts",
      "sends the exact bytes and the stored headers of webhooks, and records who reads them",
    ],
  },
  {
    name: "stream-before-the-index",
    breaks: "a stream with words passes over no event that is not indexed yet",
    changes: [
      ["src/events/event-streams.ts", "await index.has(ids, () => !isOver());", "void isOver;"],
    ],
    noticedBy: [
      "test/events/event-streams.test.ts",
      "sends only events of a status, about a subject, with a key and with words",
    ],
  },
  // A bulk replay neither repeats nor skips an event.
  {
    name: "replay-counted-apart",
    breaks: "an event is replayed and counted in one transaction",
    changes: [
      [
        "src/events/replay-runner.ts",
        "progress(run, event, { [prepared.outcome]: 1, changed }), lost),",
        "{ ...progress(run, event, { [prepared.outcome]: 1, changed }), positionAt: new Date(0) }, lost),",
      ],
    ],
    noticedBy: ["test/events/replays.test.ts", "can be stopped and resumed, and repeats nothing"],
  },
  {
    name: "replay-without-index",
    breaks: "a bulk replay does not skip events that are not indexed yet",
    changes: [
      [
        "src/events/replays.ts",
        "if (needsIndex(wanted) && !(await index.caughtUp(patienceMs))) throw notIndexed();",
        "if (needsIndex(wanted)) await index.caughtUp();",
      ],
    ],
    noticedBy: [
      "test/events/replays.test.ts",
      "does not start before the search index has all events",
    ],
  },
  {
    name: "replay-run-without-index",
    breaks: "a bulk replay goes on only when all events are indexed",
    changes: [
      [
        "src/events/replay-runner.ts",
        "if (needsIndex(filters) && !(await index.caughtUp())) return;",
        "void [needsIndex, index];",
      ],
    ],
    noticedBy: [
      "test/events/replay-runner.test.ts",
      "waits for the search index, so that it skips no event",
    ],
  },
  {
    name: "replays-run-together",
    breaks: "one bulk replay runs at a time",
    changes: [
      [
        "src/events/replays.sql.ts",
        "sql`not exists (select 1 from replays running where running.status = 'running')`",
        "sql`1 = 1`",
      ],
      [
        "src/schema/sqlite/0015_replays.sql",
        "create unique index replays_running on replays (status) where status = 'running';",
        "",
      ],
    ],
    noticedBy: ["test/events/replays.test.ts", "runs alone"],
  },
  {
    name: "replay-without-rate",
    breaks: "a bulk replay keeps its rate",
    changes: [
      [
        "src/events/replay-runner.ts",
        "await pause(clock, dueAt - now, signal);",
        "await pause(clock, 0, signal);",
      ],
    ],
    noticedBy: ["test/events/replays.test.ts", "keeps its rate"],
  },
  {
    name: "replay-of-delivered",
    breaks: "a bulk replay of undelivered events sends nothing again that was delivered meanwhile",
    changes: [
      [
        "src/events/replay-runner.ts",
        "replaying.prepare(event, onlyUndelivered)",
        "replaying.prepare(event, onlyUndelivered && false)",
      ],
    ],
    noticedBy: [
      "test/events/replays.test.ts",
      "sends nothing again that was delivered before its turn",
    ],
  },
  {
    name: "replay-preview-without-end",
    breaks: "the preview of a bulk replay returns the filters that start what it counted",
    changes: [
      [
        "src/events/replays.ts",
        `        filters,
        total,
        compared`,
        `        filters: { ...filters, to: "9999-01-01T00:00:00.000Z" },
        total,
        compared`,
      ],
    ],
    noticedBy: [
      "test/events/replays.test.ts",
      "stores what this version makes of the same bytes, and previews the difference",
    ],
  },
  {
    name: "replay-failures-unnamed",
    breaks: "a bulk replay names the events that failed",
    changes: [
      [
        "src/events/replay-runner.ts",
        "...(failed < maxReplayFailures ? [write(insertReplayFailure, row)] : []),",
        "",
      ],
    ],
    noticedBy: [
      "test/events/replay-failures.test.ts",
      "names each event that failed, the last first, and replays the others",
    ],
  },
];
