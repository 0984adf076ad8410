import { jsonWith, type startApp } from "./app.ts";
import { post } from "./flights.ts";
import type { testGateway } from "./gateway.ts";
import { deliver } from "./notifying.ts";
import { listed } from "./operator.ts";
import type { resources } from "./resources.ts";

type Start = Parameters<typeof startApp>;

/** An app whose operator gateway answers as the test decides, and what the API shows of that destination. */
export async function gatewayDestination(
  taken: ReturnType<typeof resources>,
  answer: Parameters<typeof testGateway>[0],
  fields: object,
  [env, ...start]: [...Start] = [],
) {
  const gateway = taken.gateway(answer);
  const app = await taken.app({ ...gateway.env, ...env }, ...start);
  const [destination] = await listed(app, "/v1/destinations", "admin");
  const path = `/v1/destinations/${String(destination?.["id"])}`;
  const change = async (changes: object) =>
    jsonWith(await app.as("admin", path, { ...post(changes), method: "PATCH" }), 200);
  await change(fields);
  const shown = async () => jsonWith(await app.as("admin", `${path}?include=health`), 200);
  return {
    app,
    gateway,
    path,
    change,
    deliver: async (count: number) => {
      for (let n = 0; n < count; n += 1) await deliver(app);
    },
    state: async () => (await shown())["state"],
    health: async (): Promise<Record<string, unknown>> => Object((await shown())["health"]),
    /** With their attempts, newest first. */
    deliveries: () => listed(app, `${path}/deliveries?include=attempts&limit=100`, "admin"),
  };
}
