import type { Scenario } from "./scenario.ts";
import { backups } from "./scenarios/backup.ts";
import { firstStart } from "./scenarios/first-start.ts";
import { service } from "./scenarios/service.ts";

/** Each with its part of the images. */
export const scenarios: readonly (readonly [Scenario, number])[] = [
  [service, 6],
  [firstStart, 1],
  [backups, 2],
];

export function scenarioOf(name: string): Scenario {
  const found = scenarios.find(([scenario]) => scenario.name === name);
  if (found === undefined) throw new Error(`There is no scenario "${name}"`);
  return found[0];
}
