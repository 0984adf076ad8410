import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { until } from "../../support/app.ts";
import { noChromium, openBrowser } from "../../support/browser.ts";
import {
  removeFolder,
  type RunningServer,
  startServer,
  temporaryFolder,
} from "../../support/program.ts";
import { skips } from "../../support/skips.ts";

// What operators come for, from the page that opens first, at the demo. Each takes few clicks and no id.

const maxClicks = 3;

/** Clicks what has this text, fills in a field by its label, waits for a text, or presses a key. */
type Act =
  | readonly ["click", text: string]
  | readonly ["fill", label: string, text: string]
  | readonly ["see", text: string]
  | readonly ["press", key: string];

/** What the page then shows, by the selector of its place. */
type Task = readonly [task: string, acts: readonly Act[], place: string, text: string];

const tasks: readonly Task[] = [
  [
    "why a webhook was refused",
    [
      ["click", "Rejected"],
      ["click", "GitHub"],
    ],
    ".explanation",
    "A proxy, gateway or parser reformatted it",
  ],
  [
    // The button that starts it is the second click. The next task needs what it would send.
    "replay what was not delivered in an outage",
    [["click", "Replay…"]],
    ".detail button",
    "Replay 1 event",
  ],
  [
    "which destination failed, and send again",
    [["click", "Retry all"]],
    "[role=status]",
    "1 delivery will be sent again",
  ],
  [
    "add a provider",
    [
      ["click", "Providers"],
      ["click", "Add provider"],
      ["fill", "Service", "slack"],
      ["press", "Enter"],
      ["fill", "Secret", "the secret that Slack shows"],
      ["click", "Add provider"],
    ],
    "code.address",
    "/webhooks/slack",
  ],
  [
    "add a destination for failed deploys",
    [
      ["click", "Destinations"],
      ["click", "New destination"],
      ["fill", "Name", "deploys"],
      ["fill", "Format", "json"],
      ["fill", "URL", "http://127.0.0.1:4999/deploys"],
      ["fill", "Filter", 'event.type == "deploy.error"'],
      ["click", "Create destination"],
    ],
    ".detail h2",
    "deploys",
  ],
  [
    "pause a destination",
    [
      ["click", "Destinations"],
      ["click", "staging"],
      ["click", "Pause"],
    ],
    ".detail button",
    "Resume",
  ],
  [
    "resume a destination",
    [
      ["click", "Destinations"],
      ["click", "staging"],
      ["click", "Resume"],
    ],
    ".detail button",
    "Pause",
  ],
  [
    "find a booking by its customer",
    [
      ["click", "Bookings"],
      ["fill", "Search", "Haddad"],
      ["click", "N41"],
    ],
    ".passengers",
    "Noor Haddad",
  ],
  [
    "move a booking to another flight",
    [
      ["click", "Bookings"],
      ["fill", "Status", "confirmed"],
      ["click", "N41"],
      ["click", "Change flight"],
      ["see", "The next step adds the fee"],
      ["press", "Enter"],
      ["see", "Change to N41"],
      ["press", "Enter"],
    ],
    // Of an offer that was not answered, the card has a main button.
    "section:not(:has(> .actions > .primary)) h3",
    "Change of flight",
  ],
  [
    "record a refund",
    [
      ["click", "Bookings"],
      ["click", "Refunds due"],
      ["click", "Record"],
      ["press", "Enter"],
    ],
    "[role=status]",
    "recorded",
  ],
  [
    "export what is stored about a person",
    [
      ["click", "People"],
      ["fill", "Search", "Haddad"],
      ["click", "Noor Haddad"],
      ["click", "Export"],
    ],
    "[role=status]",
    "Exported. The access is recorded.",
  ],
  [
    "erase a person",
    [
      ["click", "People"],
      ["fill", "Search", "Yuki"],
      ["click", "Yuki Mori"],
      ["click", "Erase"],
      ["press", "Enter"],
    ],
    ".detail h2",
    "Erased",
  ],
  [
    "see who changed a destination",
    [
      ["click", "Destinations"],
      ["click", "finance"],
    ],
    ".detail",
    "by Tomas",
  ],
];

describe.skipIf(skips(noChromium))("the tasks of an operator", () => {
  const folder = temporaryFolder();
  const browser = openBrowser(1_440, 900);
  let demo: RunningServer;
  beforeAll(async () => {
    demo = await startServer({ cwd: folder }, "demo");
    const link = /http:\S+(\/console#code=\S+)/;
    await until(() => link.test(demo.log()), 180_000);
    // It does not ask people whose name it knows.
    await browser.open(`${demo.url}/console`);
    await browser.read(`localStorage.setItem("skyhook.name", "Ada")`);
    await browser.open("about:blank");
    await browser.open(`${demo.url}${link.exec(demo.log())?.[1] ?? ""}`);
    await browser.shows("h1", "Issues");
  }, 240_000);
  afterAll(async () => {
    await browser.close();
    await demo.stop();
    removeFolder(folder);
  });

  /** What can be clicked and has this text, in the open dialog if there is one; in the menu only if nowhere else. */
  const withText = (text: string) => `(() => {
    const text = ${JSON.stringify(text)};
    const within = document.querySelector("dialog[open]") ?? document;
    const all = [...within.querySelectorAll("a, button, summary")].filter((it) => it.checkVisibility() && !it.disabled);
    const inPage = all.filter((it) => it.closest("nav") === null);
    return all.find((it) => it.textContent.trim() === text) ?? inPage.find((it) => it.textContent.includes(text)) ??
      all.find((it) => it.textContent.includes(text));
  })()`;
  /** The field with this label; in the open item if it has one. */
  const labelled = (label: string) => `(() => {
    const fields = [...document.querySelectorAll(".detail :is(input, select, textarea), main :is(input, select, textarea)")];
    const found = fields.filter((it) =>
      (it.ariaLabel ?? it.labels?.[0]?.textContent ?? "").trim().startsWith(${JSON.stringify(label)}));
    return found.find((it) => it.closest(".detail") !== null) ?? found[0];
  })()`;

  async function act([kind, what, text = ""]: Act): Promise<void> {
    if (kind === "press") return browser.press(what);
    if (kind === "see") return browser.shows(".detail", what);
    const found = kind === "click" ? withText(what) : labelled(what);
    // In one step: a list may be read again between two.
    if (kind === "click") return browser.until(`((it) => it && (it.click(), true))(${found})`);
    await browser.until(found);
    await browser.read(`(() => {
      const field = ${found};
      field.focus();
      field.value = ${JSON.stringify(text)};
      for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
    })()`);
    // A search follows the typing after a moment.
    await Bun.sleep(2_000);
  }

  test.each(tasks)(
    "%s",
    async (_, acts, place, text) => {
      await browser.go("#/issues", "h1", "Issues");
      expect(acts.filter(([kind]) => kind === "click").length).toBeLessThanOrEqual(maxClicks);
      expect(acts.flat().join(" ")).not.toMatch(/\b[a-z]{2,3}_[0-9a-f]{8}/);
      for (const each of acts) await act(each);
      await browser.shows(place, text);
    },
    120_000,
  );
});
