import { existsSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { removeFolder, temporaryFolder } from "../../support/program.ts";

import { cutPower, type Loss } from "./cuts.ts";
import { Recorder } from "./recorder.ts";
import type { Scenario } from "./scenario.ts";
import { scenarioOf, scenarios } from "./scenarios.ts";
import { noRecording } from "./strace.ts";

/** The most images of one recording: with the next one, threads and disk go other ways. */
const mostImages = 2_500;
/** Requests to a recorded server. */
const requests = 400;

/** Where images are written and read, in memory if possible. */
const imagesFolder = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** Cuts the power of every scenario. Prints what it does and finds; false if anything was lost. */
export async function powerCuts(images: number, seed: number): Promise<boolean> {
  const reason = noRecording();
  if (reason !== null) {
    console.log(`skipped: ${reason}`);
    return true;
  }
  const parts = scenarios.reduce((sum, [, part]) => sum + part, 0);
  for (const [scenario, part] of scenarios) {
    let left = Math.ceil((images * part) / parts);
    for (; left > 0; left -= mostImages) {
      const loss = await cutScenario(scenario, Math.min(left, mostImages), seed + left);
      if (loss !== null) return false;
    }
  }
  console.log(`\n${images.toLocaleString("en")} power cuts: nothing was lost or damaged.`);
  return true;
}

async function cutScenario(scenario: Scenario, images: number, seed: number): Promise<Loss | null> {
  const folder = temporaryFolder();
  await scenario.record(new Recorder(folder), requests);
  const loss = await cutRecording(scenario, folder, images, seed);
  if (loss === null) removeFolder(folder);
  else
    console.log(
      reportOf(loss, `--recording ${scenario.name}:${folder} --images ${images} --seed ${seed}`),
    );
  return loss;
}

/** Cuts the power at random points of what was recorded in `folder`. */
async function cutRecording(
  scenario: Scenario,
  folder: string,
  images: number,
  seed: number,
): Promise<Loss | null> {
  const recorder = new Recorder(folder);
  const steps = await recorder.steps();
  const all = scenario.claims();
  for (const step of steps) all.hear(step);
  const image = join(imagesFolder, `skyhook-power-cut-${crypto.randomUUID()}`);
  const startedMs = performance.now();
  try {
    const recording = { steps, disk: () => recorder.disk(), claims: () => scenario.claims() };
    return await cutPower(recording, { images, seed, folder: image });
  } finally {
    rmSync(image, { recursive: true, force: true });
    const seconds = Math.round((performance.now() - startedMs) / 1_000);
    console.log(
      `${scenario.name}: ${images} power cuts in ${steps.length} steps with ${all.count()} claims, ${seconds} s`,
    );
  }
}

/** Repeats the power cuts of a recording that an earlier run kept, given as `name:folder`. */
export async function powerCutsOf(
  recording: string,
  images: number,
  seed: number,
): Promise<boolean> {
  const [name = "", ...rest] = recording.split(":");
  const loss = await cutRecording(scenarioOf(name), rest.join(":"), images, seed);
  if (loss !== null) console.log(reportOf(loss, `--recording ${recording} --seed ${seed}`));
  return loss === null;
}

const reportOf = ({ step, wrong, taken, before }: Loss, repeat: string): string => `
A power cut after step ${step}:
${lines(wrong)}
What it took, at least:
${lines(taken)}
The last steps before it:
${lines(before)}
Repeat with: bun run crash --power-cut ${repeat}`;

const lines = (texts: readonly string[]): string => texts.map((text) => `  ${text}`).join("\n");
