import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";

import { until } from "../support/app.ts";
import { endsAfterEach } from "../support/ends.ts";
import { movableAddress } from "../support/movable-address.ts";
import { removeFolder, temporaryFolder } from "../support/program.ts";
import { serveApp } from "../support/served-app.ts";
import { notInstalled, skips } from "../support/skips.ts";

const ends = endsAfterEach();
const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

/** The published sources, in one file that every runtime can load. */
const built = await Bun.build({
  entrypoints: [join(import.meta.dir, "../../src/client/client.ts")],
  target: "browser",
  outdir: folder,
});
const program = join(folder, "follow.mjs");
await Bun.write(
  program,
  `import { createClientFor } from ${JSON.stringify(built.outputs[0]?.path)};
const [baseUrl, token, feed] = process.argv.slice(2);
const options = {
  idleTimeoutMs: 500,
  onOpen: () => console.log("open"),
  onLost: (error) => console.log("lost: " + error.message),
};
for await (const { id, type } of createClientFor({ baseUrl, token }, [])[feed](options)) {
  if (type !== "position") console.log(type + " " + id);
  else if (id !== "") console.log("position");
}`,
);

const node = Bun.which("node");
const runtimes: readonly (readonly [name: string, path: string | null])[] = [
  ["Bun", process.execPath],
  ["Node", node],
];
const feeds = ["notifications", "events"] as const;
const rows = runtimes.map(([name, path], index) => [name, feeds[index] ?? "", path] as const);

/** Follows a feed through an address, in a process of the runtime. What it prints is in `lines`. */
async function following(path: string | null, feed: string, target?: string) {
  const served = await serveApp();
  const address = await movableAddress(served.url);
  if (target !== undefined) address.moveTo(target);
  const command = [path ?? "", program, address.url, served.token, feed];
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
  const lines: string[] = [];
  const write = (text: string) => void lines.push(...text.trim().split("\n"));
  void child.stdout.pipeThrough(new TextDecoderStream()).pipeTo(new WritableStream({ write }));
  ends.push(
    () => served.stop(),
    () => address.stop(),
    () => child.kill(),
  );
  return {
    served,
    address,
    lines,
    messages: () => lines.filter((line) => /^(?:event|notification) /.test(line)),
    prints: (line: string) => until(() => lines.includes(line)),
    send: async () => {
      const { status } = await served.app.deliverSample("task_tracker", "task.completed");
      expect(status).toBe(200);
    },
  };
}

test.skipIf(skips(notInstalled("node"))).each(rows)(
  "%s, %s: a connection that goes silent is replaced, and nothing is missed",
  async (_, feed, path) => {
    const { address, lines, messages, prints, send } = await following(path, feed);
    await prints("open");
    // Which a program can store before anything happens.
    await prints("position");
    // Before the first message, too.
    for (const count of [1, 2, 3]) {
      address.goSilent();
      await send();
      await until(() => messages().length === count);
    }
    expect(new Set(messages()).size).toBe(3);
    expect(lines).toContain("lost: no data for 0.5 s");
  },
);

test("an address that accepts and does not answer is tried again", async () => {
  const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  ends.push(() => silent.stop(true));
  const target = `http://127.0.0.1:${silent.port}`;
  const { served, address, prints } = await following(process.execPath, "events", target);
  await prints("lost: no data for 0.5 s");
  address.moveTo(served.url);
  await prints("open");
});
