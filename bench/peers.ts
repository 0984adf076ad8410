import { join } from "node:path";

/** The packages that Skyhook is compared with. A separate package keeps them out of the product. */
const peersFolder = join(import.meta.dir, "peers");

export interface PeerVersions {
  readonly node: string;
  readonly fastify: string;
  readonly fastifyJwt: string;
  readonly betterSqlite3: string;
  readonly mercurius: string;
  readonly graphql: string;
  readonly graphileWorker: string;
  readonly pgBoss: string;
  readonly bullmq: string;
  readonly sqlite: string;
}

const probe = `
  const Database = require("better-sqlite3");
  const sqlite = new Database(":memory:").prepare("select sqlite_version()").pluck().get();
  const { dependencies } = require("./package.json");
  const installed = (name) => JSON.parse(require("fs").readFileSync("node_modules/" + name + "/package.json")).version;
  const stale = Object.keys(dependencies).find((name) => installed(name) !== dependencies[name]);
  if (stale) throw new Error(stale + " has another version than package.json");
  const [fastify, fastifyJwt, betterSqlite3, mercurius, graphql, graphileWorker, pgBoss, bullmq] = ["fastify", "@fastify/jwt", "better-sqlite3", "mercurius", "graphql", "graphile-worker", "pg-boss", "bullmq"]
    .map(installed);
  JSON.stringify({ node: process.version, fastify, fastifyJwt, betterSqlite3, mercurius, graphql, graphileWorker, pgBoss, bullmq, sqlite });`;

/** Installs the peers if necessary, which takes a minute, and returns their versions. */
export async function preparePeers(): Promise<PeerVersions> {
  const installed = readVersions();
  if (installed !== null) return installed;
  console.log(
    "Installing the peers into bench/peers (better-sqlite3 is compiled: about a minute)…",
  );
  const install = Bun.spawn(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: peersFolder,
    stdout: "ignore",
    stderr: "inherit",
  });
  await install.exited;
  const versions = readVersions();
  if (versions === null) throw new Error("Failed to install the peers. See the output above.");
  return versions;
}

function readVersions(): PeerVersions | null {
  const { success, stdout } = Bun.spawnSync(["node", "--print", probe], { cwd: peersFolder });
  if (!success) return null;
  const versions: PeerVersions = JSON.parse(stdout.toString());
  return versions;
}
