import { endsAfterEach } from "./ends.ts";
import { startIn } from "./load.ts";
import { removeFolder, type RunningServer, temporaryFolder } from "./program.ts";

/** Resources that are released after each test, even if it fails. */
export function resources() {
  const ends = endsAfterEach();
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
