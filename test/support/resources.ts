import { endsAfterEach } from "./ends.ts";
import { startIn } from "./load.ts";
import { removeFolder, type RunningServer, temporaryFolder } from "./program.ts";
import { RawClient } from "./raw-client.ts";

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
    /** `from`: the client's own address. */
    async connectTo({ url }: RunningServer, from?: string): Promise<RawClient> {
      const client = await RawClient.connect(url, from);
      ends.push(() => client[Symbol.dispose]());
      return client;
    },
  };
}
