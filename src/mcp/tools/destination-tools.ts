import { Type } from "@sinclair/typebox";

import { isAdmin } from "../../base/context.ts";
import { readFilters } from "../../base/filters.ts";
import { deliveryFilters } from "../../outbound/destinations/destination-filters.ts";
import {
  deliveryPageSchema,
  listedDestinationSchema,
  retriedSchema,
  testResultSchema,
} from "../../outbound/destinations/destination.schema.ts";
import { destinationNamed } from "../../outbound/model/destination-named.ts";
import { listAnswer } from "../answer.ts";
import { anyObject, membersOf, pageOf, shape, untrusted } from "../output.ts";
import { type Agent, type AgentServices, tool } from "../tool.ts";
import { shownDelivery, shownDestination } from "../untrusted.ts";

import { filterInput, pageIn, pageInput, shortText } from "./inputs.ts";

const destination = shortText("The destination's name or id.", "deploys");

/** The id of the operators' destination with a name or id. Throws `invalid-parameter`. */
async function idOf({ storage }: AgentServices, nameOrId: string): Promise<string> {
  return (await destinationNamed(storage, nameOrId)) ?? nameOrId;
}

const destinationMembers = membersOf(
  listedDestinationSchema,
  "ownerId",
  "headerNames",
  "tokenUrl",
  "template",
);

export const listDestinations = tool({
  name: "list_destinations",
  title: "List destinations",
  description:
    "Where notifications are sent: filter, state, circuit, what waits and what is dead, success rate, last error.",
  input: Type.Object(pageInput),
  output: pageOf(destinationMembers),
  needs: null,
  async run({ destinations, withHealth }, agent, given) {
    const page = await destinations.list(agent, pageIn(given, "dst_"), { owner: "operators" });
    return listAnswer({ ...page, data: await withHealth(page.data) }, shownDestination);
  },
});

export const getDestination = tool({
  name: "get_destination",
  title: "Get a destination",
  description:
    "One destination with its health, and its deliveries, newest first, each with its last attempts. With `status` only those, such as `dead`.",
  input: Type.Object({ destination, ...filterInput(deliveryFilters), ...pageInput }),
  output: shape({
    // As in a list of destinations.
    destination: anyObject,
    deliveries: pageOf({
      ...membersOf(deliveryPageSchema.properties.data.items, "title", "lastError", "attempts"),
      ...untrusted,
    }),
  }),
  needs: null,
  async run(services, agent, { destination: nameOrId, ...given }) {
    const { destinations, withHealth, destinationDeliveries } = services;
    const filters = readFilters(deliveryFilters, given);
    const request = pageIn(given, "dlv_");
    const found = await destinations.read(agent, await idOf(services, nameOrId));
    const [[shown = found], page] = await Promise.all([
      withHealth([found]),
      destinationDeliveries.list(agent, found.id, request, filters, { attempts: true }),
    ]);
    return {
      destination: shownDestination(shown),
      deliveries: listAnswer(page, shownDelivery),
    };
  },
});

/** Tests and retries at destinations are for admins; an operator who allowed an agent to write allowed these. */
const elevated = (agent: Agent): Agent =>
  isAdmin(agent) ? agent : { ...agent, actor: { ...agent.actor, roles: ["operator", "admin"] } };

export const sendTest = tool({
  name: "send_test",
  title: "Send a test",
  description: "Sends a test notification to a destination, and returns how it answered.",
  input: Type.Object({ destination }),
  output: shape({ ...membersOf(testResultSchema, "error"), ...untrusted }),
  needs: "writes",
  async run(services, agent, { destination: nameOrId }) {
    const id = await idOf(services, nameOrId);
    const { error, ...result } = await services.destinationDeliveries.test(elevated(agent), id);
    return { ...result, untrusted: { error } };
  },
});

export const retryDead = tool({
  name: "retry_dead",
  title: "Retry dead deliveries",
  description:
    "Sends the failed deliveries of an issue again, now. First find out why they failed, and check that the cause is gone.",
  input: Type.Object({ id: shortText("The issue's id, `iss_…`.") }),
  output: shape(membersOf(retriedSchema)),
  needs: "writes",
  run: ({ issues }, agent, { id }) => issues.retry(agent, id),
});
