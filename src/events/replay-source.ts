import { readFilters } from "../base/filters.ts";
import type { Source } from "../db/paginate.ts";
import type { Storage } from "../db/storage.ts";
import type { Event } from "../event/event.ts";

import { replayFilters } from "./event-filters.ts";
import { eventsMatching, needsIndex, undeliveredMatching } from "./event-search.ts";
import type { ReplayFilters } from "./replay.ts";

/** The events that a replay takes. Throws as `eventsMatching`. */
export async function eventsToReplay(
  storage: Storage,
  filters: ReplayFilters,
): Promise<Source<Event>> {
  const wanted = readFilters(replayFilters, filters);
  return (filters.onlyUndelivered === true ? undeliveredMatching : eventsMatching)(storage, wanted);
}

/** Whether it finds them by the search index. */
export function needsIndexToReplay(filters: ReplayFilters): boolean {
  const wanted = readFilters(replayFilters, filters);
  // Without a state, events without notifications are among them.
  const { delivery = filters.onlyUndelivered === true ? "none" : undefined } = wanted;
  return needsIndex({ ...wanted, delivery });
}
