import type { Tool } from "./tool.ts";
import {
  getDestination,
  listDestinations,
  retryDead,
  sendTest,
} from "./tools/destination-tools.ts";
import { searchDocs } from "./tools/docs-tools.ts";
import { getBody, getEvent, searchEvents } from "./tools/event-tools.ts";
import {
  explainRejection,
  listIssues,
  muteIssue,
  overview,
  providerStatus,
} from "./tools/problem-tools.ts";
import { previewReplay, startReplay } from "./tools/replay-tools.ts";

/** All tools. Clients grant permission by name: a name is never given to something else. */
export const tools: readonly Tool[] = [
  overview,
  searchEvents,
  getEvent,
  explainRejection,
  listIssues,
  listDestinations,
  getDestination,
  providerStatus,
  previewReplay,
  searchDocs,
  getBody,
  startReplay,
  retryDead,
  sendTest,
  muteIssue,
];
