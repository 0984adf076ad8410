import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { openStorage } from "../../src/db/open.ts";
import type { Storage } from "../../src/db/storage.ts";
import { schema } from "../../src/schema/schema.ts";

import { startApp, type TestApp } from "./app.ts";
import { postgresDatabase, type TestDatabase } from "./databases.ts";
import { endsAfterEach } from "./ends.ts";
import { type TestGateway, testGateway } from "./gateway.ts";
import { type RunningCommand, runningCommand } from "./listener.ts";
import { startIn } from "./load.ts";
import { type OwnPostgres, ownPostgres } from "./own-postgres.ts";
import {
  removeFolder,
  type RunningServer,
  type ServerOptions,
  startServer,
  temporaryFolder,
} from "./program.ts";
import { RawClient } from "./raw-client.ts";

/** Resources that are released after each test, even if it fails, the last one first. */
export function resources() {
  const ends = endsAfterEach();
  function ending<Thing>(thing: Thing, end: (thing: Thing) => unknown): Thing {
    ends.push(() => end(thing));
    return thing;
  }
  const newFolder = () => ending(temporaryFolder(), removeFolder);
  return {
    ends,
    newFolder,
    /** For an SQLite database. */
    newFile: () => join(newFolder(), "skyhook.db"),
    storage: async (url: string): Promise<Storage> =>
      ending(await openStorage(schema, url), (storage) => storage.close()),
    /** A file for the log of an app, and its text so far. */
    log() {
      const file = join(newFolder(), "log");
      const logFd = ending(openSync(file, "w"), closeSync);
      return { logFd, text: () => readFileSync(file, "utf8") };
    },
    /** A server with the settings of `startIn`. */
    start: async (...args: Parameters<typeof startIn>): Promise<RunningServer> =>
      ending(await startIn(...args), (server) => server.kill()),
    /** A server that has only the given settings, by default in a new folder. */
    serve: async ({ cwd = newFolder(), ...how }: Partial<ServerOptions>): Promise<RunningServer> =>
      ending(await startServer({ cwd, ...how }), (server) => server.kill()),
    /** A command that runs until it is ended. */
    running: (...args: Parameters<typeof runningCommand>): RunningCommand =>
      ending(runningCommand(...args), (command) => command.end("SIGKILL")),
    gateway: (...args: Parameters<typeof testGateway>): TestGateway =>
      ending(testGateway(...args), (gateway) => gateway.stop()),
    app: async (...args: Parameters<typeof startApp>): Promise<TestApp> =>
      ending(await startApp(...args), (app) => app.stop()),
    database: async (): Promise<TestDatabase> =>
      ending(await postgresDatabase(), (database) => database[Symbol.asyncDispose]()),
    ownPostgres: async (): Promise<OwnPostgres> =>
      ending(await ownPostgres(), (server) => server.end()),
    /** `from`: the client's own address. */
    connectTo: async ({ url }: Pick<RunningServer, "url">, from?: string): Promise<RawClient> =>
      ending(await RawClient.connect(url, from), (client) => client[Symbol.dispose]()),
  };
}
