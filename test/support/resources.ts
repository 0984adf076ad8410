import { afterEach } from "bun:test";

import { startIn } from "./load.ts";
import { removeFolder, type RunningServer, temporaryFolder } from "./program.ts";

/** Resources that are released after each test, even if it fails. */
export function resources() {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    // In reverse order: a server ends before its folder is removed.
    for (const end of ends.splice(0).toReversed()) await end();
  });
  return {
    ends,
    newFolder(): string {
      const folder = temporaryFolder();
      ends.push(() => removeFolder(folder));
      return folder;
    },
    async start(...args: Parameters<typeof startIn>): Promise<RunningServer> {
      const server = await startIn(...args);
      ends.push(() => server.kill());
      return server;
    },
  };
}
