import fc from "fast-check";

import { checkAnswer, isRefusedUnread } from "./oracle.ts";
import { type FuzzRequest, shown } from "./request.ts";
import { watched } from "./watch.ts";
import type { Answer, World } from "./world.ts";

/** One subject of fuzzing. */
export interface Target {
  readonly name: string;
  readonly about: string;
  /** How often the short run in the tests tries it. */
  readonly shortRuns: number;
  /** Tries it on so many cases, or until the time is up, and makes a case that fails smaller. */
  run(world: World, bounds: Bounds): Promise<Outcome>;
}

interface Bounds {
  readonly seed: number;
  readonly runs: number;
  /** Milliseconds after which no further case is tried. */
  readonly timeLimitMs: number;
  /** Where in the seed's cases to begin; from a replay command. */
  readonly path?: string;
}

export interface Outcome {
  readonly runs: number;
  /** The longest that `/livez` took, in ms; 0 where the world is not watched. */
  readonly worstMs: number;
  readonly failure: Failure | null;
}

export interface Failure {
  readonly message: string;
  /** The smallest case that fails, for people. */
  readonly counterexample: string;
  readonly path: string;
}

interface Subject<Case> extends Pick<Target, "name" | "about" | "shortRuns"> {
  readonly cases: fc.Arbitrary<Case>;
  /** Throws what is wrong. */
  readonly check: (tried: Case, world: World) => unknown;
  readonly show?: (tried: Case) => string;
}

/** A target of any cases and check. */
export function target<Case>({
  cases,
  check,
  show = fc.stringify,
  ...about
}: Subject<Case>): Target {
  return {
    ...about,
    async run(world, { seed, runs, timeLimitMs, path }) {
      let worstMs = 0;
      const property = fc.asyncProperty(cases, async (tried) => {
        const checked = async () => void (await check(tried, world));
        if (world.watch === null) return checked();
        worstMs = Math.max(worstMs, await watched(world.watch, checked));
      });
      const details = await fc.check(property, {
        seed,
        numRuns: runs,
        interruptAfterTimeLimit: timeLimitMs,
        ...(path !== undefined && { path }),
      });
      const [smallest] = details.counterexample ?? [];
      if (!details.failed || smallest === undefined)
        return { runs: details.numRuns, worstMs, failure: null };
      const error: unknown = details.errorInstance;
      const failure = {
        message: error instanceof Error ? error.message : String(error),
        counterexample: show(smallest),
        path: details.counterexamplePath ?? "",
      };
      return { runs: details.numRuns, worstMs, failure };
    },
  };
}

interface RequestSubject extends Pick<Target, "name" | "about" | "shortRuns"> {
  readonly requests: fc.Arbitrary<FuzzRequest>;
  /** What must hold beside what must hold for every answer. */
  readonly expect?: (request: FuzzRequest, answer: Answer, world: World) => unknown;
}

/** A target of single requests, each of which the oracle judges. */
export function requestTarget({ requests, expect, ...about }: RequestSubject): Target {
  return target({
    ...about,
    cases: requests,
    show: shown,
    async check(request, world) {
      const answer = await world.send(request);
      counted(answer.status);
      checkAnswer(request, answer, world);
      if (!isRefusedUnread(answer)) await expect?.(request, answer, world);
    },
  });
}

/** Answers by status, of all requests that targets sent. */
export const answersByStatus = new Map<number, number>();
function counted(status: number): void {
  answersByStatus.set(status, (answersByStatus.get(status) ?? 0) + 1);
}

/** What tries the same cases of a target again, from one of them on. */
export const replayCommand = (name: string, seed: number, path: string): string =>
  `bun run fuzz --target ${name} --seed ${seed}${path === "" ? "" : ` --path ${path}`}`;
