import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { json } from "../support/app.ts";
import { type Browser, openBrowser } from "../support/browser.ts";
import { pastClock, signIn, startConsole } from "../support/console.ts";
import { choosyGateway, fillWithHistory, withGateway } from "../support/history.ts";
import { itemsOf } from "../support/operator.ts";

/** `bun test/console/screenshots.ts [folder] [webp|png]` takes a screenshot of each view. */
const folder = process.argv[2] ?? join(import.meta.dir, "../../docs/console");
const format = process.argv[3] === "png" ? "png" : "webp";

const clock = pastClock();
const gateway = choosyGateway();
const server = await startConsole(withGateway(gateway.url), clock);
await fillWithHistory(server, clock);
// Delivery counts are flushed every two seconds.
await Bun.sleep(2_500);

const idsOf = async (path: string) =>
  itemsOf((await json(await server.app.as("admin", path)))["data"]).map(({ id }) => String(id));
const [event] = await idsOf("/v1/events?provider=deploy_platform&type=deploy.error");
const [rejection] = await idsOf("/v1/rejections");
const [booking] = await idsOf("/v1/api/bookings");
const destinations = await idsOf("/v1/destinations");
/** The history has no departures tomorrow. */
const day = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);

const views = {
  events: "#/events",
  event: `#/events/${event}`,
  rejected: `#/rejections/${rejection}`,
  health: "#/health?range=6h",
  providers: "#/providers",
  destinations: `#/destinations/${destinations.at(-1)}`,
  bookings: `#/bookings/${booking}`,
  flights: `#/flights/${day}`,
};

mkdirSync(folder, { recursive: true });
const browser = openBrowser(1_280, 800);
try {
  await browser.open(`${server.url}/console`);
  await browser.until("document.querySelector('input[name=token]') !== null");
  await screenshot(browser, "sign-in");
  await signIn(browser, server, "admin");
  await browser.until("document.querySelector('[data-row]') !== null");
  for (const scheme of ["light", "dark"] as const) {
    await browser.scheme(scheme);
    for (const [name, hash] of Object.entries(views))
      await capture(browser, hash, `${name}-${scheme}`);
  }
  await browser.scheme("light");
  await browser.size(375, 720);
  for (const [name, hash] of Object.entries(views)) await capture(browser, hash, `${name}-phone`);
} finally {
  await browser.close();
  await server.stop();
  await gateway.stop();
}

async function capture(page: Browser, hash: string, name: string): Promise<void> {
  await page.read(`void (location.hash = ${JSON.stringify(hash)})`);
  await page.until("document.querySelector('.spinner') === null");
  await screenshot(page, name);
}

async function screenshot(page: Browser, name: string): Promise<void> {
  // Wait until charts are painted and the highlight of new rows has faded.
  await Bun.sleep(900);
  await Bun.write(join(folder, `${name}.${format}`), await page.screenshot(format));
  console.log(name);
}
