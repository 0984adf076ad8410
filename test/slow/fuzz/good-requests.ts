import { json } from "../../support/app.ts";
import { bookingBody } from "../../support/flights.ts";
import { itemsOf } from "../../support/operator.ts";

import { type FuzzRequest, get, postJson } from "./request.ts";
import type { Answer, World } from "./world.ts";

const delivery = (): FuzzRequest => ({
  ...postJson("/webhooks/task_tracker", { event_name: "item:added", n: crypto.randomUUID() }),
  signedFor: "task_tracker",
});

const booking = (flightId: number) => postJson("/v1/api/bookings", bookingBody(flightId), "user");

const query = postJson("/graphql", { query: "{ flight(flightId: 1) { flightNumber } }" });

/** One of each thing that a path can name. */
export async function learn(world: World, known: Map<string, string>): Promise<void> {
  const made = async (request: FuzzRequest, name: string): Promise<string> => {
    const answer = await world.send(request);
    return String((await json(new Response(answer.text)))[name]);
  };
  const user = { name: "Ada", email: "ada@example.com" };
  known.set("booking", await made(booking(2), "bookingId"));
  known.set("event", await made(delivery(), "id"));
  known.set("user", await made(postJson("/v1/users", user, "user"), "id"));
  const destination = { name: "fuzz", format: "json", url: "https://hook.invalid/" };
  known.set("destination", await made(postJson("/v1/destinations", destination, "admin"), "id"));
  const page = await world.send(get("/v1/events?limit=1", "admin"));
  const { pagination } = await json(new Response(page.text));
  const [cursors] = itemsOf([pagination]);
  known.set("cursor", String(cursors?.["nextCursor"]));
}

/** A delivery, a booking and its end, and a query: all must be answered as on the first day. */
export async function checkHealth(world: World): Promise<void> {
  const expectStatus = async (request: FuzzRequest, status: number): Promise<Answer> => {
    const answer = await world.send(request);
    if (answer.status === status) return answer;
    throw new Error(
      `A good ${request.method} ${request.path} is answered ${answer.status}: ${answer.text}`,
    );
  };
  await expectStatus(delivery(), 200);
  const { text } = await expectStatus(booking(1), 201);
  const { bookingId } = await json(new Response(text));
  const at = `/v1/api/bookings/${String(bookingId)}`;
  await expectStatus({ ...get(at, "user"), method: "DELETE" }, 200);
  const answer = await expectStatus(query, 200);
  if (answer.text !== '{"data":{"flight":{"flightNumber":"SK1"}}}') {
    throw new Error(`A good query is answered ${answer.text}`);
  }
}
