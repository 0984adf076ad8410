import type { DatabaseKind } from "./databases.ts";
import { World, type WorldOptions } from "./world.ts";

const open = new Set<World>();

/** Opens a world for `use`. */
export async function inWorld<Result>(
  kind: DatabaseKind,
  options: WorldOptions,
  use: (world: World) => Promise<Result>,
): Promise<Result> {
  const world = await World.open(kind, options);
  open.add(world);
  try {
    return await use(world);
  } finally {
    open.delete(world);
    await world.end();
  }
}

/** Ends all worlds when the run is interrupted. */
export function endOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      void Promise.allSettled([...open].map((world) => world.end())).then(() => process.exit(1));
    });
  }
}
