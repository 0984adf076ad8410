/** A skipped step, with the reason. */
const skipped: string[] = [];

/** Runs a step of a rehearsal and prints how long it took. */
export async function step<Result>(name: string, run: () => Promise<Result>): Promise<Result> {
  const startedAt = performance.now();
  const seconds = () => `${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s`;
  try {
    const result = await run();
    const said = typeof result === "string" && result !== "" ? `: ${result}` : "";
    console.log(`ok   ${seconds()}  ${name}${said}`);
    return result;
  } catch (error) {
    console.log(`FAIL ${seconds()}  ${name}`);
    throw error;
  }
}

export function skip(name: string, why: string): void {
  console.log(`skip           ${name}: ${why}`);
  skipped.push(name);
}

export const skippedSteps = (): readonly string[] => skipped;

/** Expects that a command fails with a text. Returns the line that has it. */
export async function rejected(run: Promise<unknown>, text: string): Promise<string> {
  const error: unknown = await run.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  const said = error instanceof Error ? error.message : String(error);
  const line = said.split("\n").find((each) => each.includes(text));
  if (line !== undefined) return line.replace(/^.* ended with \d+: /, "").trim();
  throw new Error(error === null ? `It succeeded instead of: ${text}` : `${said}: not "${text}"`);
}

export const lastLine = (text: string): string => text.trim().split("\n").at(-1) ?? "";
