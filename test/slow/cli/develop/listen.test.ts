import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { isObject } from "../../../../src/base/payload.ts";
import { verifier } from "../../../../src/inbound/signatures/signature.ts";
import { providerOf, until } from "../../../support/app.ts";
import { allSecrets, commandLine, secretOf } from "../../../support/cli.ts";
import { never } from "../../../support/gateway.ts";
import { deliverTask, type RunningCommand, sentTo, taskBody } from "../../../support/listener.ts";
import type { RunningServer } from "../../../support/program.ts";
import { resources } from "../../../support/resources.ts";

const { skyhook } = commandLine();
const taken = resources();
const { newFolder } = taken;

const started = () => taken.serve({ cwd: newFolder(), env: allSecrets });
const local = taken.gateway;

/** Starts a listener. The same `state` again continues where it ended. */
function listener(
  server: RunningServer,
  to: string,
  state: string,
  ...args: string[]
): RunningCommand {
  const command = ["listen", "--to", to, "--state", join(state, "state.json"), ...args];
  return taken.running(command, server);
}

describe("skyhook listen", () => {
  test("sends the exact bytes, with the provider's headers and a signature of a throwaway secret", async () => {
    const server = await started();
    const program = local();
    const state = newFolder();
    const running = listener(
      server,
      `${program.url}/hooks?x=1`,
      state,
      "--provider",
      "task_tracker",
    );
    await running.shows("sending webhooks of");
    const body = `{"event_name":"item:completed", "event_data":{"id":"1","content":"é \u2028 \\u0000"}}`;
    await deliverTask(server, body, { "x-todoist-delivery-id": "d-1", "user-agent": "Tasks/1" });
    await until(() => program.received.length === 1);
    const [request] = program.received;
    expect([request?.path, request?.search]).toEqual(["/notify/hooks", "?x=1"]);
    expect(request?.body).toBe(body);
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "x-todoist-delivery-id": "d-1",
    });
    expect(request?.headers["user-agent"]).not.toBe("Tasks/1");

    await running.shows(/200 \d+ ms task_tracker task\.completed evt_[0-9a-f]{32}\n/);
    const secret = /task_tracker: deliveries are signed with the secret (\S+)/.exec(running.err());
    expect(running.err().match(/signed with the secret/g)).toHaveLength(1);
    expect(running.err()).not.toContain(secretOf("task_tracker"));
    const verify = verifier(providerOf("task_tracker").signature, {
      current: secret?.[1] ?? "",
      previous: null,
    });
    const verdict = await verify({
      method: "POST",
      url: "",
      headers: new Headers(request?.headers),
      bytes: request?.bytes ?? new Uint8Array(),
      receivedAtMs: Date.now(),
    });
    expect(verdict).toHaveProperty("verified");

    // The state holds the secret, so that the next run signs with it too.
    const file = join(state, "state.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await running.end("SIGINT")).toBe(0);
    const again = listener(server, program.url, state, "--provider", "task_tracker");
    await again.shows(secret?.[1] ?? "no secret");
  });

  test("sends other stored headers with --original-headers", async () => {
    const server = await started();
    const program = local();
    const running = listener(server, program.url, newFolder(), "--original-headers");
    await running.shows("sending webhooks of");
    await deliverTask(server, taskBody(1), { "user-agent": "Tasks/1", "x-request-id": "r-1" });
    await until(() => program.received.length === 1);
    expect(program.received[0]?.headers).toMatchObject({
      "user-agent": "Tasks/1",
      "x-request-id": "r-1",
      host: new URL(program.url).host,
    });
  });

  test("first sends what came while it was stopped, and nothing twice", async () => {
    const server = await started();
    const program = local();
    const state = newFolder();
    const first = listener(server, program.url, state);
    await first.shows("sending webhooks of");
    await until(() => existsSync(join(state, "state.json")));
    await first.end();
    for (const number of [1, 2, 3]) await deliverTask(server, taskBody(number));
    const second = listener(server, program.url, state);
    await until(() => program.received.length === 3);
    await deliverTask(server, taskBody(4));
    await until(() => program.received.length === 4);
    await second.shows(/(200 [^\n]+\n[^]*){4}/);
    await second.end();
    listener(server, program.url, state);
    await deliverTask(server, taskBody(5));
    await until(() => program.received.length === 5);
    expect(sentTo(program)).toEqual([1, 2, 3, 4, 5].map(taskBody));
  });

  test("starts where --from says, but only the first time", async () => {
    const server = await started();
    await deliverTask(server, taskBody(1));
    const program = local();
    const state = newFolder();
    const first = listener(server, program.url, state, "--from", "1h");
    await until(() => program.received.length === 1);
    await first.shows("200");
    await first.end();
    const second = listener(server, program.url, state, "--from", "1h");
    await second.shows("continuing after the last delivery");
    await deliverTask(server, taskBody(2));
    await until(() => program.received.length === 2);
    expect(sentTo(program)).toEqual([1, 2].map(taskBody));
  });

  test("sends only the webhooks of a provider or type, ignored and unreadable ones too", async () => {
    const server = await started();
    const [all, some] = [local(), local()];
    const listeners = [
      listener(server, all.url, newFolder(), "--provider", "task_tracker"),
      listener(server, some.url, newFolder(), "--type", "task.*"),
    ];
    for (const each of listeners) await each.shows("sending webhooks of");
    const ignored = JSON.stringify({ event_name: "item:updated", event_data: { id: "9" } });
    await skyhook(["send", "deploy_platform", "deploy.error"], server);
    await deliverTask(server, ignored);
    await deliverTask(server, "no JSON", {}, 400);
    await deliverTask(server, taskBody(1));
    await until(() => all.received.length === 3 && some.received.length > 0);
    expect(sentTo(all)).toEqual([ignored, "no JSON", taskBody(1)]);
    expect(sentTo(some)).toEqual([taskBody(1)]);
  });

  test("waits for a local address that refuses connections", async () => {
    const server = await started();
    const gone = local();
    await gone.stop();
    const running = listener(server, gone.url, newFolder());
    await running.shows("sending webhooks of");
    await deliverTask(server, taskBody(1));
    await running.shows(`nothing listens at ${gone.url}: waiting for it`);
    const back = local(undefined, gone.port);
    await until(() => back.received.length === 1, 10_000);
    await running.shows("200");
  });

  test("goes on after an error, a redirect and an endless response", async () => {
    const server = await started();
    const endless = () =>
      new ReadableStream({
        async pull(controller) {
          controller.enqueue(new Uint8Array(65_536));
          await Bun.sleep(1);
        },
      });
    const program = local((number) => {
      if (number === 1) return new Response("broken", { status: 500 });
      if (number === 2) return Response.redirect("http://127.0.0.1:1/elsewhere", 307);
      return number === 3 ? new Response(endless()) : new Response("ok");
    });
    const running = listener(server, program.url, newFolder());
    await running.shows("sending webhooks of");
    for (const number of [1, 2, 3, 4]) await deliverTask(server, taskBody(number));
    await running.shows(/ 500 [^]* 307 [^]* 200 [^]* 200 /);
    expect(sentTo(program)).toEqual([1, 2, 3, 4].map(taskBody));
  });

  test("gives up on a hanging response after 30 s", async () => {
    const server = await started();
    const program = local((number) => (number === 1 ? never() : new Response("ok")));
    const running = listener(server, program.url, newFolder());
    await running.shows("sending webhooks of");
    for (const number of [1, 2]) await deliverTask(server, taskBody(number));
    await running.shows("ERR", 45_000);
    expect(running.out()).toContain("(no response within 30 s)");
    await until(() => program.received.length === 2);
  });

  test("sends a delivery again whose answer it did not live to see", async () => {
    const server = await started();
    const program = local((number) => (number === 1 ? never() : new Response("ok")));
    const state = newFolder();
    const first = listener(server, program.url, state);
    await first.shows("sending webhooks of");
    await deliverTask(server, taskBody(1));
    await until(() => program.received.length === 1);
    await first.end("SIGKILL");
    listener(server, program.url, state);
    await until(() => program.received.length === 2);
    expect(sentTo(program)).toEqual([1, 1].map(taskBody));
  });

  test("refuses a state that another listener uses", async () => {
    const server = await started();
    const state = newFolder();
    const first = listener(server, "http://127.0.0.1:1", state);
    await first.shows("sending webhooks of");
    const second = listener(server, "http://127.0.0.1:1", state);
    expect(await second.exited).toBe(1);
    expect(second.err()).toContain("Another listener uses");
    await first.end("SIGKILL");
    const third = listener(server, "http://127.0.0.1:1", state);
    await third.shows("sending webhooks of");
  });

  test("stores its state in the user's state folder by default, one for each address and filter", async () => {
    const server = await started();
    const folder = newFolder();
    const surroundings = { ...server, env: { ...server.env, XDG_STATE_HOME: folder } };
    for (const more of [[], ["--provider", "code_host"]]) {
      const args = ["listen", "--to", "http://127.0.0.1:1", ...more];
      const running = taken.running(args, surroundings);
      await running.shows("sending webhooks of");
    }
    /** The positions in the states: null before the first message of the server. */
    const positions = () =>
      [...new Bun.Glob("skyhook/listen-*.json").scanSync(folder)].map((name) => {
        const content: unknown = JSON.parse(readFileSync(join(folder, name), "utf8"));
        return isObject(content) ? content["seq"] : undefined;
      });
    await until(() => positions().length === 2 && positions().every((seq) => seq !== null));
    expect(positions().map((seq) => typeof seq)).toEqual(["number", "number"]);
  });

  test("explains errors", async () => {
    const server = await started();
    const badState = join(newFolder(), "bad.json");
    await Bun.write(badState, "{");
    const to = ["--to", "http://localhost:3000"];
    const listen = (args: string[], env: Record<string, string> = {}) =>
      skyhook(["listen", ...args], { ...server, env: { ...server.env, ...env } });
    const [noTarget, badTarget, badToken, badFile, badSince, noServer] = await Promise.all([
      listen([]),
      listen(["--to", "localhost:3000"]),
      listen([...to, "--state", join(newFolder(), "s")], { OPERATOR_TOKEN: "no" }),
      listen([...to, "--state", badState]),
      listen([...to, "--from", "yesterday"]),
      listen([...to, "--provider", "x".repeat(201), "--state", join(newFolder(), "s")]),
    ]);
    expect([noTarget.code, badTarget.code, badSince.code]).toEqual([2, 2, 2]);
    expect(noTarget.err).toContain("--to");
    expect(badTarget.err).toContain("Write a URL like");
    expect(badToken.err).toContain("The server answers 401 invalid-token");
    expect(badFile.err).toContain("bad.json is not the state of a listener. Pass another");
    expect(noServer.err).toContain("The server answers 400");
    for (const { code } of [badToken, badFile, noServer]) expect(code).toBe(1);
  });
});
