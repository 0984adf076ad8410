import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { at } from "../../../src/base/payload.ts";
import { outputOf, page } from "../../docs/markdown.ts";
import { until } from "../../support/app.ts";
import { authorization } from "../../support/load.ts";

import { done, type Trials } from "./machine.ts";

const file = "docs/destinations.md";

/** The commands of the page about destinations. */
export const notifying: Trials = {
  async [`${file} run: headers`]({ shell, taken }, code) {
    const tickets = taken.gateway();
    await done(shell(code.replace("https://tickets.example.com/hooks", tickets.url)));
    await done(shell("skyhook destination test tickets"));
    const [sent] = tickets.received;
    expect(sent?.headers["authorization"]).toBe("Bearer 3f9a");
    expect(JSON.parse(sent?.body ?? "")).toEqual({ text: "Test from Skyhook", link: "" });
  },

  async [`${file} run: token`]({ shell, taken }, code) {
    const orders = taken.gateway();
    const tokens = taken.gateway(() =>
      Response.json({ access_token: "t0k", token_type: "Bearer" }),
    );
    const here = code
      .replace("https://orders.example.com/hooks", orders.url)
      .replace(
        "https://client:secret@auth.example.com",
        `http://client:secret@127.0.0.1:${tokens.port}`,
      );
    await done(shell(here));
    await done(shell("skyhook destination test orders"));
    expect(orders.received[0]?.headers["authorization"]).toBe("Bearer t0k");
    expect(tokens.received[0]?.body).toBe("grant_type=client_credentials&scope=events");
  },

  async [`${file} run: original`]({ shell, taken }, code) {
    const billing = taken.gateway();
    await done(shell(code.replace("https://billing.example.com/stripe", billing.url)));
    await done(shell("skyhook send payment_processor payment_intent.succeeded"));
    await until(() => billing.received.length === 1);
    const [sent] = billing.received;
    expect(sent?.headers["x-payment-signature"]).toStartWith("t=");
    expect(sent?.headers["skyhook-webhook-signature"]).toStartWith("v1,");
    expect(JSON.parse(sent?.body ?? "")).toMatchObject({ type: "payment_intent.succeeded" });
  },

  async [`${file} run: apply`]({ shell, folder }, code) {
    const [, yaml = ""] = /^```yaml\n(.*?)^```$/ms.exec(page(file)) ?? [];
    writeFileSync(join(folder, "destinations.yaml"), yaml);
    const slack = "SLACK_URL=https://hooks.slack.com/services/T000/B000/XXXX";
    const out = await done(shell(`export ${slack}\n${code}`));
    expect(out).toMatch(outputOf(file, "run: apply"));
    expect(await done(shell(`${slack} skyhook apply destinations.yaml`))).toBe(
      "nothing to change\n",
    );
  },

  async [`${file} run: alerts`]({ shell }, code) {
    const url = "https://hooks.slack.com/services/T000/B000/XXXX";
    await done(shell(`SLACK_URL=${url}\n${code}`));
    expect(JSON.parse(await done(shell("skyhook destination on-call")))).toMatchObject({
      url: "https://hooks.slack.com/…",
      alerts: true,
    });
  },

  async [`${file} run: own`]({ shell }, code) {
    const token = (await authorization("user")).replace("Bearer ", "");
    const made: unknown = JSON.parse(await done(shell(`TOKEN=${token}\n${code}`)));
    expect(at(made, "secret")).toStartWith("whsec_");
    expect(made).toMatchObject({
      name: "my-bookings",
      state: "active",
      ownerId: expect.any(String),
    });
  },
};
