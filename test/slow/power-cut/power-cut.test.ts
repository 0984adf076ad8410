import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";

import { startIn } from "../../support/load.ts";
import { removeFolder, temporaryFolder } from "../../support/program.ts";
import { runs } from "../../support/runs.ts";
import { skips } from "../../support/skips.ts";
import { deliver } from "../harness/clients.ts";

import { cutPower, type Loss, type Recording } from "./cuts.ts";
import { Recorder } from "./recorder.ts";
import { scenarioOf, scenarios } from "./scenarios.ts";
import type { Step } from "./steps.ts";
import { noRecording } from "./strace.ts";

// strace stops the program at each call.
setDefaultTimeout(300_000);

const requests = 160;
/** Enough for every combination of names in every scenario: all are tried by night, and to find a planted error. */
const images = 320;

interface Trial {
  readonly images: number;
  readonly seed: number;
  readonly change?: (steps: readonly Step[]) => readonly Step[];
}

/** What a program would do that forgets something, and the scenario that notices. */
const planted: readonly (readonly [string, string, (steps: readonly Step[]) => readonly Step[]])[] =
  [
    ["no file is synced", "service", (steps) => steps.filter(({ does }) => does !== "sync")],
    ["the write-ahead log is not synced", "service", withoutSyncs(/-wal$/)],
    [
      "the database is not synced before its log starts again",
      "service",
      withoutSyncs(/skyhook\.db$/),
    ],
    ["the names in the data folder are not synced", "service", withoutSyncs(/^data$/)],
    ["the name of the data folder is not synced", "service", withoutSyncs(/^$/)],
    ["the key for personal data is not synced", "service", withoutSyncs(/personal_data_key/)],
    ["responses are sent before the commit", "service", saidEarly],
    ["webhook secrets are not synced", "first-start", withoutSyncs(/_webhook_secret/)],
    ["the names of webhook secrets are not synced", "first-start", withoutSyncs(/^secrets$/)],
    ["the key for tokens is not synced", "first-start", withoutSyncs(/jwt_secret/)],
    ["a backup is not synced", "backup", withoutSyncs(/^backups\/.*partial$/)],
    ["the name of a backup is not synced", "backup", withoutSyncs(/^backups$/)],
    ["a restore does not sync the former database's new name first", "backup", renamedAtOnce],
  ];

function withoutSyncs(of: RegExp) {
  return (steps: readonly Step[]) =>
    steps.filter((step) => step.does !== "sync" || !of.test(step.path));
}

/** Without the sync of the folder just before a restored database takes its name. */
function renamedAtOnce(steps: readonly Step[]): readonly Step[] {
  const restored = steps.findIndex(
    (step) => step.does === "rename" && step.to === "data/skyhook.db",
  );
  const synced = steps.findLastIndex(
    (step, index) => index < restored && step.does === "sync" && step.path === "data",
  );
  return steps.filter((_, index) => index !== synced);
}

/** Each response comes before what the program did since the one before. */
function saidEarly(steps: readonly Step[]): readonly Step[] {
  let said = 0;
  return steps
    .map((step, index) => {
      const place = step.does === "send" ? said : index;
      if (step.does === "send") said = index;
      return { step, place };
    })
    .toSorted((one, other) => one.place - other.place)
    .map(({ step }) => step);
}

describe.skipIf(skips(noRecording()))("a power cut", () => {
  const folder = temporaryFolder();

  test("finds no temporary file, however much a commit writes", async () => {
    const recorder = new Recorder(join(folder, "burst"));
    const server = await startIn(recorder.root, {}, { through: recorder.recorded() });
    // Long enough for a statement journal of more than 64 KiB, up to which SQLite keeps it in memory.
    await Promise.all(Array.from({ length: 200 }, (_, number) => deliver(server, number)));
    await server.stop();
    expect(await recorder.steps()).not.toEqual([]);
  });

  const recordings = new Map<string, Promise<Recording>>();
  afterAll(() => removeFolder(folder));

  async function recorded(name: string): Promise<Recording> {
    const scenario = scenarioOf(name);
    const recorder = new Recorder(join(folder, name));
    await scenario.record(recorder, requests);
    const steps = await recorder.steps();
    return { steps, disk: () => recorder.disk(), claims: () => scenario.claims() };
  }

  async function cut(
    name: string,
    { change = (steps: readonly Step[]) => steps, ...tried }: Trial,
  ): Promise<Loss | null> {
    const recording = await recordings.getOrInsertComputed(name, recorded);
    const changed = { ...recording, steps: change(recording.steps) };
    return cutPower(changed, { ...tried, folder: join(folder, "image") });
  }

  test.each(scenarios.map(([{ name }]) => name))("loses nothing: %s", async (name) => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    expect({ seed, loss: await cut(name, { images: runs(images), seed }) }).toEqual({
      seed,
      loss: null,
    });
  });

  test.each(planted)("is noticed where %s: %s", async (_, name, change) => {
    const loss = await cut(name, { images, seed: 1, change });
    expect(loss?.wrong.length).toBeGreaterThan(0);
  });
});
