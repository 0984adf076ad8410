import { expect, test } from "bun:test";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

/** What a program prints that handles uncaught errors, throws one of them, and would print "alive" afterwards. */
async function run(thrown: string): Promise<{ code: number; lines: readonly string[] }> {
  const program = `
    import { connect } from "node:net";
    import { AppError } from "${root}/src/base/errors.ts";
    import { storageError } from "${root}/src/db/sqlite/errors.ts";
    import { createLog } from "${root}/src/telemetry/log.ts";
    import { containUncaught, handleUncaught } from "${root}/src/telemetry/uncaught.ts";
    const log = createLog({ level: "info", format: "json" });
    handleUncaught(log);
    const stranger = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { open: (socket) => void socket.write("not what you expect"), data() {} },
    });
    /** As a library does that does not know the answer. */
    const exchange = () =>
      new Promise<void>(() => {
        connect(stranger.port, "127.0.0.1").on("data", () => {
          throw new Error("cannot parse");
        });
      });
    ${thrown}
    setTimeout(() => {
      console.log("alive");
      process.exit(0);
    }, 300);
  `;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "pipe" });
  const [out, code] = await Promise.all([child.stdout.text(), child.exited]);
  const lines = out.trim().split("\n");
  const texts = lines.map((line) => String(line.startsWith("{") ? JSON.parse(line).msg : line));
  // The log writes a moment later than the console.
  return { code, lines: texts.toSorted() };
}

test.each([
  [
    "a callback of an exchange that is contained: it is rejected",
    `containUncaught(exchange).catch((error) => console.log("rejected: " + error.message));`,
    0,
    ["uncaught error of an attempt to send", "rejected: cannot parse", "alive"],
  ],
  ["a callback of any other exchange", "void exchange();", 1, ["uncaught error; stopping"]],
  [
    "a rejected promise",
    `void Promise.reject(new Error("cannot parse"));`,
    0,
    ["unhandled rejection", "alive"],
  ],
  [
    "a rejected promise of the storage",
    `void Promise.reject(storageError("the disk is full"));`,
    1,
    ["uncaught error; stopping"],
  ],
  [
    "a rejected promise of a transaction",
    `void Promise.reject(new AppError("unavailable", "try again"));`,
    1,
    ["uncaught error; stopping"],
  ],
] as const)("%s", async (_, thrown, code, lines) => {
  expect(await run(thrown)).toEqual({ code, lines: Array.from<string>(lines).toSorted() });
});
