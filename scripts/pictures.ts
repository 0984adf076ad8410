import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { at, itemsAt } from "../src/base/payload.ts";
import { until } from "../test/support/app.ts";
import { type Browser, openBrowser } from "../test/support/browser.ts";
import { removeFolder, runSkyhook, startServer, temporaryFolder } from "../test/support/program.ts";

/** `bun run pictures [folder]` takes the pictures of the docs from a new demo, in a folder and on a port of its own. */
const target = process.argv[2] ?? join(import.meta.dir, "../docs/console");
const desk = [1_280, 713] as const;
const phone = [375, 720] as const;
/** A demo makes its past first. */
const startTimeoutMs = 180_000;
/** Charts are painted and the highlight of new rows has faded. */
const settleMs = 900;

const home = temporaryFolder();
// The times of the demo are those of its machine.
const demo = await startServer({ cwd: home, env: { TZ: "UTC" } }, "demo");
const browser = openBrowser(...desk);
try {
  const link = /http:\S+#code=\S+/;
  await until(() => link.test(demo.log()), startTimeoutMs);
  await takeAll(await viewsOf(), link.exec(demo.log())?.[0] ?? "");
} finally {
  await browser.close();
  await demo.stop();
  removeFolder(home);
}

/** What each picture shows, by its name. */
async function viewsOf(): Promise<ReadonlyMap<string, string>> {
  const env = { XDG_RUNTIME_DIR: home, PORT: demo.env.PORT };
  const minting = ["--demo", "token", "--email", "ada@demo.example", "--role", "admin"];
  const { out } = await runSkyhook(minting, { cwd: home, env });
  const headers = { authorization: `Bearer ${out.trim()}` };
  const first = async (path: string, name = "id", value?: string) => {
    const answer = await fetch(`${demo.url}/v1/${path}`, { headers });
    const items = itemsAt(await answer.json(), "data");
    const found = items.find((item) => value === undefined || at(item, name) === value);
    if (found === undefined) throw new Error(`The demo has no ${path}`);
    return String(at(found, "id"));
  };
  const day = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
  return new Map([
    ["events", "#/events"],
    ["event", `#/events/${await first("events?delivery=dead")}`],
    ["rejected", `#/rejections/${await first("rejections")}`],
    ["health", "#/health?range=7d"],
    ["providers", "#/providers"],
    ["destinations", `#/destinations/${await first("destinations", "name", "incidents")}`],
    ["bookings", `#/bookings/${await first("api/bookings?status=cancelled")}`],
    ["flights", `#/flights/${day}`],
  ]);
}

async function takeAll(views: ReadonlyMap<string, string>, link: string): Promise<void> {
  mkdirSync(target, { recursive: true });
  await browser.size(...desk);
  await browser.open(`${demo.url}/console`);
  await browser.has("form");
  await take(browser, "sign-in");
  // The console asks for the name of who signs in by a link, unless it knows it.
  await browser.read(`localStorage.setItem("skyhook.name", "Ada")`);
  await browser.open("about:blank");
  // The address that the browser may reach, and for which it keeps the session.
  await browser.open(link.replace("//localhost:", "//127.0.0.1:"));
  await browser.shows(".connection", "Live");
  for (const scheme of ["light", "dark"] as const) {
    await browser.scheme(scheme);
    for (const [name, hash] of views) await show(hash, `${name}-${scheme}`);
  }
  await browser.scheme("light");
  await browser.size(...phone);
  for (const [name, hash] of views) await show(hash, `${name}-phone`);
}

async function show(hash: string, name: string): Promise<void> {
  await browser.go(hash);
  await browser.lacks(".loading, .spinner");
  await take(browser, name);
}

async function take(page: Browser, name: string): Promise<void> {
  await Bun.sleep(settleMs);
  await Bun.write(join(target, `${name}.webp`), await page.screenshot("webp"));
  console.log(name);
}
