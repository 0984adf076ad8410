import type { Mutant } from "../mutant.ts";

const tests = "test/identity/sessions/sessions.test.ts";

/** Ways to break the sessions of the console, and its issues. */
export const sessions: readonly Mutant[] = [
  {
    name: "session-from-other-site",
    breaks: "another site cannot change anything with a session's cookie",
    changes: [
      [
        "src/identity/sessions/session-cookie.ts",
        `(site === null ? isOwnOrigin(origin, request) : site === "same-origin")`,
        "(site !== null || isOwnOrigin(origin, request))",
      ],
    ],
    noticedBy: [tests, "changes nothing with the cookie: a subdomain [API2-14]"],
  },
  {
    name: "session-without-header",
    breaks: "a cookie alone is not enough to change anything",
    changes: [
      ["src/identity/sessions/session-cookie.ts", "headers.has(consoleHeader) &&", "true &&"],
    ],
    noticedBy: [
      tests,
      "changes nothing with the cookie: a program with the cookie alone [API2-14]",
    ],
  },
  {
    name: "sign-in-from-other-site",
    breaks: "another site cannot sign a browser in as somebody else",
    changes: [
      [
        "src/identity/sessions/sessions.rest.ts",
        `        cookies.requireOwnSite(request);
        const address`,
        "        const address",
      ],
    ],
    noticedBy: [tests, "does not sign a browser in as somebody else: a subdomain [API2-15]"],
  },
  {
    name: "session-outlives-sign-in",
    breaks: "each sign-in ends the session before it",
    changes: [
      [
        "src/identity/sessions/sessions.ts",
        "...(former === null ? [] : closing(former, `replaced by ${session.id}`)),",
        "...(former === null ? [] : closing(former).slice(1)),",
      ],
    ],
    noticedBy: [tests, "and the former one ends [API2-12]"],
  },
  {
    name: "replaced-session-unrecorded",
    breaks: "the audit list says when a session was replaced",
    changes: [
      [
        "src/identity/sessions/sessions.ts",
        "...(former === null ? [] : closing(former, `replaced by ${session.id}`)),",
        "...(former === null ? [] : closing(former).slice(0, 1)),",
      ],
    ],
    noticedBy: [tests, "that a sign-in replaces is recorded as closed, once"],
  },
  {
    name: "body-read-unrecorded",
    breaks: "the audit list says who read the body of a delivery",
    changes: [
      [
        "src/events/events.ts",
        `if (event.body !== null) await reveals.record(ctx, "event.revealed", event.id);`,
        "",
      ],
    ],
    noticedBy: ["test/identity/audit/audit.test.ts", "says who read the body of an event"],
  },
  {
    name: "session-never-expires",
    breaks: "a session ends after twelve hours",
    changes: [
      [
        "src/identity/sessions/sessions.ts",
        "found !== undefined && found.expiresAt.getTime() > clock.now()",
        "found !== undefined",
      ],
    ],
    noticedBy: [tests, "ends after twelve hours, and with the token that opened it"],
  },
  {
    name: "issues-in-one-turn",
    breaks: "a list of many issues does not block the event loop",
    changes: [
      [
        "src/operations/issues/find-issues.ts",
        "inOwnTurn(parts.storage, () => failuresOf(parts, destination))",
        "failuresOf(parts, destination)",
      ],
    ],
    noticedBy: [
      "test/operations/issues/storm.test.ts",
      "reads each destination in its own turn of the event loop",
    ],
  },
  {
    name: "issue-retried-for-all",
    breaks: "retrying an issue sends only its own deliveries again",
    changes: [
      [
        "src/operations/issues/issues.ts",
        "failed.provider === provider && causeOf",
        "provider !== failed.lastError && causeOf",
      ],
    ],
    noticedBy: ["test/operations/issues/issues.test.ts", "of dead letters are retried by provider"],
  },
];
