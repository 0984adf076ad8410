import { afterEach } from "bun:test";

import { startIn } from "./load.ts";
import { removeFolder, type RunningServer, temporaryFolder } from "./program.ts";

/** What a test takes and gives back when it ends, whichever way it ends. */
export function resources() {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    // The last first: a server before the folder that it runs in.
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
