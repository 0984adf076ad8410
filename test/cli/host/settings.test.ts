import { expect, test } from "bun:test";
import { join } from "node:path";

import { runSkyhook, startServer } from "../../support/program.ts";
import { resources } from "../../support/resources.ts";

const taken = resources();

test("a start names every setting and secret that is wrong, and what may be misspelt, at once", async () => {
  const cwd = taken.newFolder();
  const { out, err, code } = await runSkyhook(["serve"], {
    cwd,
    env: {
      PORT: "http",
      JWT_SECRET: "too short",
      CODE_HOST_WEBHOOK_SECRET: "",
      SHARED_INBOX_WEBHOOK_SECRET: " ",
      PERSONAL_DATA_KEY: "AAAA",
      OPERATOR_GATEWAY_SECRET: `whsec_${Buffer.alloc(24).toString("base64")}`,
      OPERATOR_GATEWAY_URl: "https://operators.example.com",
    },
  });
  expect([code, out]).toEqual([2, ""]);
  expect(err.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/^skyhook: PORT must be /),
    expect.stringMatching(/^skyhook: PERSONAL_DATA_KEY must be /),
    expect.stringMatching(/^skyhook: JWT_SECRET must be /),
    "skyhook: OPERATOR_GATEWAY_URL and OPERATOR_GATEWAY_SECRET must be set together",
    expect.stringMatching(/^skyhook: SHARED_INBOX_WEBHOOK_SECRET is empty/),
    expect.stringMatching(/^skyhook: CODE_HOST_WEBHOOK_SECRET is empty/),
    "skyhook: OPERATOR_GATEWAY_URl is ignored: did you mean OPERATOR_GATEWAY_URL?",
  ]);
});

test("a start warns of a variable that is almost a setting", async () => {
  const cwd = taken.newFolder();
  const env = { WEBHOOK_PROVIDER: "code_host", DATA_DIR: join(cwd, "data") };
  const server = await startServer({ cwd, env });
  taken.ends.push(() => server.kill());
  await server.printed("WEBHOOK_PROVIDER is ignored: did you mean WEBHOOK_PROVIDERS?");
  const doctor = await runSkyhook(["doctor"], { cwd, env: { ...env, ...server.env } });
  expect(doctor.out).toContain("did you mean WEBHOOK_PROVIDERS?");
});

test("serve takes its port as an option too", async () => {
  const cwd = taken.newFolder();
  const wrong = await runSkyhook(["serve", "--port", "http"], { cwd, env: { PORT: "0" } });
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('not "http"')]);
});
