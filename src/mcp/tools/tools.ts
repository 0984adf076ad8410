import type { Tool } from "../tool.ts";

import { getDestination, listDestinations, retryDead, sendTest } from "./destination-tools.ts";
import { searchDocs } from "./docs-tools.ts";
import { getBody, getEvent, searchEvents } from "./event-tools.ts";
import {
  explainRejection,
  listIssues,
  muteIssue,
  overview,
  providerStatus,
} from "./problem-tools.ts";
import { getReplay, previewReplay, startReplay } from "./replay-tools.ts";

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
  getReplay,
  searchDocs,
  getBody,
  startReplay,
  retryDead,
  sendTest,
  muteIssue,
];
