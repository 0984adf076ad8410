import { describe, expect, test } from "bun:test";

import { at, itemsAt } from "../../../../src/base/payload.ts";
import { catalogue } from "../../../../src/inbound/providers/catalogue.ts";
import { toleranceOf } from "../../../../src/inbound/signatures/scheme.ts";
import { allSecrets, answerIn, besideServer, secretOf } from "../../../support/cli.ts";
import { complete } from "../../../support/complete.ts";

const { beside, get, operatorToken, running, skyhook } = besideServer();

describe("skyhook send", () => {
  const all = catalogue.flatMap(({ id, samples }) =>
    Object.keys(samples).map((type) => [id, type] as const),
  );

  test("--list prints every pair of the registered providers", async () => {
    const few = await skyhook(["send", "--list"]);
    expect(few.out).toStartWith("task_tracker ");
    expect(few.out).not.toContain("payment_processor");
    const { out, code } = await beside("send", "--list");
    expect(out).toBe(all.map((pair) => `${pair.join(" ")}\n`).join(""));
    expect(code).toBe(0);
  });

  test.each(all)("%s %s is accepted and listed", async (provider, type) => {
    const { out, err, code } = await beside("send", provider, type);
    const answer = answerIn(out);
    const { id, idempotencyKey } = answer;
    expect(answer).toMatchObject({ status: "accepted", event: type });
    expect(out).toStartWith(`200 accepted ${String(id)} ${String(idempotencyKey)}\n`);
    expect([err, code]).toEqual(["", 0]);

    const listed = await get(`/v1/events?provider=${provider}&type=${type}`, await operatorToken());
    const event = itemsAt(listed.body, "data").find((one) => at(one, "id") === id);
    expect(event).toMatchObject({ type, title: expect.stringMatching(/\S/) });
    if (!complete.includes(provider)) return;
    expect(event).toMatchObject({ url: expect.stringMatching(/^https:/) });
  });

  test.each(["github", "Todoist", "stripe"])(
    "takes %s, the name of the service",
    async (service) => {
      const { err } = await beside("send", service);
      const [, type = ""] = /Events: ([^,]+)/.exec(err) ?? [];
      expect(await beside("send", service, type)).toMatchObject({ code: 0 });
      const misspelt = await beside("send", `${service}x`, type);
      expect(misspelt.err).toMatch(
        /"\w+x"\. Did you mean [a-z_]+ \([A-Z][a-z]+[A-Za-z]*\)\? Providers: /,
      );
      expect((await beside("send", service, `${type}x`)).err).toContain(`Did you mean ${type}?`);
    },
  );

  test("with --minimal is accepted by its name alone", async () => {
    for (const { id, samples } of catalogue) {
      const [type = ""] = Object.keys(samples);
      const { out, code } = await beside("send", id, type, "--minimal");
      expect(answerIn(out)).toMatchObject({ status: "accepted", event: type });
      expect(code).toBe(0);
    }
  });

  const tampered = catalogue.flatMap(({ id, signature, samples }) => {
    const [type = ""] = Object.keys(samples);
    const ways = ["signature", "body", ...(toleranceOf(signature) !== null ? ["time"] : [])];
    return ways.map((way) => [id, type, way] as const);
  });

  test.each(tampered)("%s %s --tamper %s is refused", async (provider, type, way) => {
    const { out, code } = await beside("send", provider, type, "--tamper", way);
    expect(out).toStartWith("401 invalid-signature: ");
    expect(answerIn(out)).toMatchObject({ status: 401 });
    expect(code).toBe(1);
  });

  test("with the same --id is a duplicate", async () => {
    for (const { id, samples } of catalogue) {
      const [type = ""] = Object.keys(samples);
      const args = ["send", id, type, "--id", crypto.randomUUID()];
      const first = answerIn((await beside(...args)).out);
      const second = await beside(...args);
      expect(answerIn(second.out)).toEqual({ ...first, status: "duplicate" });
      expect(second.code).toBe(0);
    }
  });

  test("takes a secret and a server from the command line", async () => {
    const secret = ["--secret", secretOf("code_host")];
    const args = [
      "send",
      "code_host",
      "package.published",
      "--server",
      `${running().url}/`,
      ...secret,
    ];
    expect(await skyhook(args)).toMatchObject({ code: 0 });
    const wrong = await skyhook([...args, "--secret", "another"]);
    expect(wrong.out).toStartWith("401 ");
    expect(wrong.err).toContain("another secret");
    expect(wrong.err).toContain("or the clocks differ. The console's Rejected view says which");
    expect(wrong.code).toBe(1);
  });

  test("says what to do without a secret or a server", async () => {
    const without = await skyhook(["send", "shared_inbox", "message.sent"]);
    expect(without.err).toContain("set SHARED_INBOX_WEBHOOK_SECRET");
    expect(without.err).toContain("secrets/shared_inbox_webhook_secret");
    const optional = await skyhook(["send", "payment_processor", "invoice.paid"]);
    expect(optional.err).toContain("first add it to WEBHOOK_PROVIDERS");
    const alone = await skyhook(["send", "shared_inbox", "message.sent"], { env: allSecrets });
    expect(alone.err).toMatch(
      /^skyhook: http:\/\/127\.0\.0\.1:1 cannot be reached .*skyhook serve.*\n$/,
    );
    expect([without.code, alone.code]).toEqual([1, 1]);
  });
});
