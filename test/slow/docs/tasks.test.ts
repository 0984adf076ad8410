import { expect, test } from "bun:test";

import { textAt } from "../../../src/base/payload.ts";
import { commandsOf, outputOf } from "../../docs/markdown.ts";
import { until } from "../../support/app.ts";
import { freePort } from "../../support/free-port.ts";
import { resources } from "../../support/resources.ts";

import { desk, done, follow, machine } from "./machine.ts";

// What a new user does in an empty folder, by the commands of the pages as printed.

const taken = resources();

/** What the user enters, and the id that a list showed, for the one in the page. */
interface Entered {
  readonly input?: string;
  readonly id?: string | undefined;
}

/** An empty folder, in which blocks of commands are pasted. `bun skyhook` and `bun start` are the program. */
function newUser() {
  const port = String(freePort());
  const { shell } = desk(taken);
  const paste = (code: string, input?: string) =>
    shell(code, input, { HOST: "127.0.0.1", PORT: port });
  const asPrinted = (page: string, marker: string) =>
    commandsOf(page, marker)
      .replace(/^npm install .* && bun install && /, "")
      .replaceAll("bun start", "skyhook serve")
      .replaceAll("bun skyhook", "skyhook")
      .replaceAll("localhost:3111", `localhost:${port}`);
  let server: ReturnType<typeof paste> | null = null;
  return {
    url: `http://127.0.0.1:${port}`,
    run: (page: string, marker: string, { input, id }: Entered = {}) => {
      const code = asPrinted(page, marker);
      return done(
        paste(id === undefined ? code : code.replace(/\b[a-z]{3}_[0-9a-f]{32}\b/, id), input),
      );
    },
    /** Stops the server that runs, and starts one by the block. */
    serve: async (page: string, marker: string) => {
      server?.kill("SIGTERM");
      await server?.exited;
      server = paste(asPrinted(page, marker).replace(/^(?=skyhook serve)/m, "exec "));
      await follow(server.stdout, /skyhook serves on/);
    },
  };
}

type User = ReturnType<typeof newUser>;

const tasks: Readonly<Record<string, (user: User) => Promise<void>>> = {
  async "receive Stripe"({ url, serve, run }) {
    await serve("README.md", "command: start");
    await run("README.md", "run: secrets");
    await serve("docs/webhooks.md", "run: stripe start");
    const secret = "whsec_a1b2c3d4e5f6a7b8c9d0e1f2";
    const out = await run("docs/webhooks.md", "run: stripe", { input: secret });
    expect(out).toMatch(outputOf("docs/webhooks.md", "run: stripe"));
    expect(await fromStripe(url, secret)).toBe(200);
    expect(await fromStripe(url, `${secret}0`)).toBe(401);
  },

  async "notify Slack of failed deploys only"() {
    const { shell } = await machine(taken);
    const slack = taken.gateway();
    const code = commandsOf("docs/destinations.md", "run: slack");
    const address = "https://hooks.slack.com/services/T000/B000/XXXX";
    expect(code).toContain(address);
    const out = await done(shell(code.replace(address, slack.url)));
    expect(out).toMatch(outputOf("docs/destinations.md", "run: slack"));
    const titles = () =>
      slack.received.map(({ body }) => textAt(JSON.parse(body).attachments[0], "fallback"));
    await until(() => titles().length === 2);

    await done(shell("skyhook send deploy_platform deploy.succeeded"));
    // One that Slack receives follows, so a message for the other would be there first.
    await done(shell("skyhook send deploy_platform deploy.error"));
    await until(() => titles().length > 2);
    const failed = expect.stringMatching(/^Deploy of web to production failed/);
    expect(titles()).toEqual(["Test from Skyhook", failed, failed]);
  },

  async "find out why a webhook was rejected"({ url, serve, run }) {
    await serve("README.md", "command: start");
    await run("README.md", "run: secrets");
    const body = '{"action":"completed","workflow_run":{}}';
    const headers = { "x-hub-signature-256": `sha256=${hmac("another secret", body)}` };
    const send = async (path: string) =>
      (await fetch(`${url}/webhooks/${path}`, { method: "POST", body, headers })).status;
    expect([await send("code_host"), await send("githbu")]).toEqual([401, 404]);

    const listed = await run("docs/webhooks.md", "run: rejections");
    expect(listed).toMatch(outputOf("docs/webhooks.md", "run: rejections"));
    const [id] = /rej_\w+/.exec(listed) ?? [];
    const why = await run("docs/webhooks.md", "run: rejection", { id });
    expect(why).toMatch(outputOf("docs/webhooks.md", "run: rejection"));
    expect(why).toContain("Compare the secret with the one at the provider");
    expect(await run("docs/webhooks.md", "run: rejections all")).toMatch(
      /unknown +\/webhooks\/githbu +unknown-provider /,
    );
  },
};

const hmac = (secret: string, text: string): string =>
  new Bun.CryptoHasher("sha256", secret).update(text).digest("hex");

/** Delivers an event as https://docs.stripe.com/webhooks#verify-manually says. Returns the status. */
async function fromStripe(url: string, secret: string): Promise<number> {
  const object = { id: "pi_1", object: "payment_intent", amount_received: 4200, currency: "eur" };
  const body = JSON.stringify({ id: "evt_1", type: "payment_intent.succeeded", data: { object } });
  const time = Math.floor(Date.now() / 1_000);
  const headers = { "stripe-signature": `t=${time},v1=${hmac(secret, `${time}.${body}`)}` };
  return (await fetch(`${url}/webhooks/payment_processor`, { method: "POST", body, headers }))
    .status;
}

test.each(Object.entries(tasks))("%s", (_, task) => task(newUser()), 60_000);
