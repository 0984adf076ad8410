import { afterEach } from "bun:test";

/** Functions that end what a test started. They run after each test, even if it fails, the last one first. */
export function endsAfterEach(): (() => unknown)[] {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });
  return ends;
}
