import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { warnOfSecrets } from "../../../../src/cli/host/checks/secret-warnings.ts";
import { secretStore } from "../../../../src/config/secrets.ts";
import { catalogue } from "../../../../src/inbound/providers/catalogue.ts";
import { registry } from "../../../../src/inbound/providers/registry.ts";
import { createLog } from "../../../../src/telemetry/log.ts";
import { resources } from "../../../support/resources.ts";

const taken = resources();

test("warnings are of the secrets that are loaded, also when a file has been emptied since", async () => {
  const secretsDir = taken.newFolder();
  const fileOf = (provider: string) => join(secretsDir, `${provider}_webhook_secret`);
  for (const provider of ["code_host", "deploy_platform"]) writeFileSync(fileOf(provider), "short");
  const store = secretStore({}, secretsDir);
  const secretsOf = (id: string) => store.webhookSecrets(id);
  const registered = [...registry({ providers: () => catalogue, secretsOf })];
  writeFileSync(fileOf("code_host"), "");

  const { logFd: fd, text } = taken.log();
  const log = createLog({ level: "info", format: "json", fd });
  warnOfSecrets(registered, store, { secretsDir }, log);
  await log.drain(1_000);
  expect(text()).toContain("the current secret of code_host has fewer than");
  expect(text()).toContain("deploy_platform and code_host have the same secret");
  expect(text()).toMatch(/task_tracker has no webhook secret .*: run `bun skyhook secrets init`"/);
});
