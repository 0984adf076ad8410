import {
  answered,
  type Attack,
  deliver,
  expectStatus,
  flood,
  head,
  mebibyte,
  withWires,
} from "./attack.ts";

const announced = (bytes: number, ...headers: readonly string[]) =>
  head("POST /webhooks/code_host", `Content-Length: ${bytes}`, ...headers);

export const socketAttacks: readonly Attack[] = [
  {
    name: "announced-idle",
    about: "100 connections that announce 25 MiB or less and send nothing",
    run: (victim) =>
      withWires(victim, 100, async (wires) => {
        // The largest first: what is left of a budget then is taken by the smaller ones.
        for (const [n, wire] of wires.entries()) {
          await wire.send(announced((n < 50 ? 25 : n < 75 ? 5 : 1 / 4) * mebibyte));
        }
        await Bun.sleep(300);
        // Others are served meanwhile.
        expectStatus(await deliver(victim, "task_tracker", 100 * 1_024), 200);
        expectStatus(await deliver(victim, "code_host", mebibyte), 200);
      }),
  },
  {
    name: "announced-half",
    about: "50 connections that announce 25 MiB and send 1 MiB of it",
    growthLimitBytes: 200 * mebibyte,
    run: (victim) =>
      withWires(victim, 50, async (wires) => {
        const part = Buffer.alloc(mebibyte, "x");
        await Promise.all(
          wires.map(async (wire) => {
            await wire.send(announced(25 * mebibyte));
            await wire.send(part);
          }),
        );
        await Bun.sleep(300);
        expectStatus(await deliver(victim, "task_tracker", 100 * 1_024), 200);
      }),
  },
  {
    name: "unread-answers",
    about: "100 connections that ask for 20 large answers each and read none",
    // 2,000 copies of the API document, the largest answer, leave the server at once.
    livezLimitMs: 400,
    run: (victim) =>
      withWires(victim, 100, async (wires) => {
        for (const wire of wires) wire.stopReading();
        for (let round = 0; round < 20; round += 1) {
          await Promise.all(wires.map((wire) => wire.send(head("GET /openapi.json"))));
          await Bun.sleep(20);
        }
        expectStatus(await deliver(victim), 200);
      }),
  },
  {
    name: "unread-pages",
    about: "150 connections that ask for the largest page and do not read it",
    // Held for its memory. Bun copies 190 MB into socket buffers, which took 120 to 1,300 ms in all.
    livezLimitMs: 3_000,
    async run(victim) {
      await answered(victim.fetch("/swagger/scalar.js"));
      await withWires(victim, 150, async (wires) => {
        for (const wire of wires) wire.stopReading();
        for (const wire of wires) await wire.send(head("GET /swagger/scalar.js"));
        await Bun.sleep(1_000);
        expectStatus(await deliver(victim), 200);
      });
    },
  },
  {
    name: "feed-followers",
    about: "200 followers of the feed that do not read, while 200 deliveries arrive",
    run: (victim) =>
      withWires(victim, 200, async (wires) => {
        const follow = head("GET /v1/feed", `Authorization: Bearer ${victim.bearers.operator}`);
        await Promise.all(wires.map((wire) => wire.send(follow)));
        await Promise.all(wires.map(async (wire) => expectStatus(await wire.status(), 200)));
        for (const wire of wires) wire.stopReading();
        await flood(200, 8, async () => expectStatus(await deliver(victim), 200));
      }),
  },
  {
    name: "unread-bodies",
    about: "32 streams with bodies of 12 MiB and 30 reads of one, by clients that do not read",
    // 64 MiB for streams, as much for reads, and the messages in progress.
    growthLimitBytes: 640 * mebibyte,
    // Serialising a body of 12 MiB takes 100 to 400 ms.
    livezLimitMs: 3_000,
    async run(victim) {
      for (let count = 0; count < 3; count += 1) {
        expectStatus(await deliver(victim, "code_host", 12 * mebibyte), 200);
      }
      const operator = `Authorization: Bearer ${victim.bearers.operator}`;
      const list = await victim.fetch("/v1/events?provider=code_host&limit=1", {
        headers: { authorization: `Bearer ${victim.bearers.operator}` },
      });
      const [, id] = /"id":"(evt_\w+)"/.exec(await list.text()) ?? [];
      await withWires(victim, 62, async (wires) => {
        for (const wire of wires) wire.stopReading();
        const follow = "GET /v1/events/feed?include=body&from=2020-01-01T00:00:00Z";
        for (const [n, wire] of wires.entries()) {
          await wire.send(head(n < 32 ? follow : `GET /v1/events/${id}`, operator));
        }
        await Bun.sleep(6_000);
        expectStatus(await deliver(victim), 200);
      });
    },
  },
  {
    name: "connections",
    about: "2,000 connections one after another, a request on each",
    run: ({ fetch }) =>
      flood(2_000, 50, () => answered(fetch("/livez", { headers: { connection: "close" } }))),
  },
];
