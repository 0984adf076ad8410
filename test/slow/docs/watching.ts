import { expect } from "bun:test";

import { outputOf } from "../../docs/markdown.ts";
import { until } from "../../support/app.ts";
import { freePort } from "../../support/free-port.ts";

import { done, type Trials } from "./machine.ts";

/** The commands of the pages about agents and traces. */
export const watching: Trials = {
  async "docs/agents.md run: token"({ shell }, code) {
    expect(await done(shell(`exec 2>&1\n${code}`))).toMatch(
      outputOf("docs/agents.md", "run: token"),
    );
  },

  async "docs/observability.md run: traces"({ shell, taken }, code) {
    const collector = taken.gateway();
    const address = new URL(collector.url).origin;
    const port = freePort();
    shell(`DATA_DIR=other PORT=${port} ${code.replace("http://localhost:4318", address)}`);
    await until(async () => {
      await fetch(`http://127.0.0.1:${port}/livez`).catch(() => null);
      return collector.received.some(({ path }) => path === "/v1/traces");
    }, 20_000);
  },
};
