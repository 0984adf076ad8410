import { delivery } from "./contestants.ts";
import { createDestination, startReceiver, startSkyhook, urlOf } from "./delivery.ts";
import { withFolder } from "./folder.ts";
import { cpuMicrosOf, machineMicros, median } from "./measure.ts";
import { pinning, runLoad, type Server } from "./processes.ts";
import { cells, environment, goalTable, table } from "./report.ts";
import { inTurns } from "./rounds.ts";
import type { Latencies } from "./servers/receiver.ts";
import type { Suite } from "./suite.ts";

/** What a broken destination costs the others. */
export const destinations: Suite = {
  name: "destinations",
  about: "latency of 48 destinations beside two broken ones ÷ without these",
  async run(options) {
    const events = options.isTrial ? 100 : 1_000;
    const rounds = await inTurns(options.rounds, async () => ({
      healthy: await fanOut(events, []),
      broken: await fanOut(events, ["dead", "hanging"]),
    }));
    return section(rounds);
  },
};

interface DestinationsRound {
  readonly broken: Fanout;
  readonly healthy: Fanout;
}

/** Destinations of a run, of which the last two may be broken. */
const destinationCount = 50;
/** Nothing listens at this address of Linux's loopback network. */
const deadUrl = "http://127.0.0.9:9999/dead";
const warmUpEvents = 50;
const patienceMs = 240_000;

/** Delivery of all events to all destinations but the broken ones. */
interface Fanout extends Latencies {
  readonly deliveriesPerSecond: number;
  /** What other processes than server, load and receiver used of the machine, in cores. */
  readonly othersBusy: number;
}

/** More than this disturbs a run, in cores. */
const maxOthersBusy = 0.5;

/** Sends events as fast as they are acknowledged, and waits until they are delivered. */
function fanOut(events: number, broken: readonly ("dead" | "hanging")[]): Promise<Fanout> {
  return withFolder("destinations", async (folder) => {
    const receiver = await startReceiver();
    const server = await startSkyhook(folder);
    try {
      const healthy = destinationCount - 2;
      for (let number = 0; number < healthy; number += 1) {
        await createDestination(server, `d${number}`, `${urlOf(receiver)}/d${number}`);
      }
      for (const name of broken) {
        const url = name === "dead" ? deadUrl : `${urlOf(receiver)}/${name}`;
        await createDestination(server, name, url);
      }
      await send(server, warmUpEvents);
      await delivered(receiver, warmUpEvents * healthy);
      const before = [server, receiver].map(({ pid }) => cpuMicrosOf(pid));
      const [startedMs, machine] = [performance.now(), machineMicros()];
      const load = await send(server, events);
      const latencies = await delivered(receiver, events * healthy);
      const elapsedMicros = (performance.now() - startedMs) * 1_000;
      const [serverMicros = 0, receiverMicros = 0] = [server, receiver].map(
        ({ pid }, index) => cpuMicrosOf(pid) - (before[index] ?? 0),
      );
      const own = serverMicros + receiverMicros + load;
      const fanout = {
        ...latencies,
        deliveriesPerSecond: (events * healthy) / (elapsedMicros / 1e6),
        othersBusy: (machineMicros() - machine - own) / elapsedMicros,
      };
      console.log(
        `  ${healthy} + ${broken.length} broken: p50 ${Math.round(latencies.p50Ms)} ms, p99 ${Math.round(latencies.p99Ms)} ms, ${cells.perSecond(fanout.deliveriesPerSecond)} deliveries/s`,
      );
      return fanout;
    } finally {
      await server.stop();
      await receiver.stop();
    }
  });
}

/** Returns about how much CPU time the generator used, in microseconds. */
async function send(server: Server, events: number): Promise<number> {
  const startedMs = performance.now();
  const { generatorBusy } = await runLoad("skyhook serve", {
    send: { kind: "deliveries", ...delivery },
    port: server.port,
    serverPid: server.pid,
    connections: 16,
    warmUp: 0,
    seconds: patienceMs / 1_000,
    requests: events,
    repeats: false,
  });
  return generatorBusy * (performance.now() - startedMs) * 1_000;
}

/** Waits for that many deliveries, and resets the receiver. */
async function delivered(receiver: Server, count: number): Promise<Latencies> {
  const read = async (query: string): Promise<Latencies> => {
    const found: Latencies = JSON.parse(
      await (await fetch(`${urlOf(receiver)}/latencies${query}`)).text(),
    );
    return found;
  };
  const endsMs = performance.now() + patienceMs;
  while ((await read("")).received < count) {
    if (performance.now() > endsMs)
      throw new Error(`Not ${count} deliveries: ${JSON.stringify(await read(""))}`);
    await Bun.sleep(100);
  }
  return read("?reset");
}

/** Why latencies are inconclusive; null if they are conclusive. */
function disturbance(fanouts: readonly Fanout[]): string | null {
  const most = Math.max(...fanouts.map(({ othersBusy }) => othersBusy));
  return most > maxOthersBusy ? `other processes used ${cells.percent(most)} of a core` : null;
}

function section(rounds: readonly DestinationsRound[]): string {
  const fanouts = (name: "healthy" | "broken") => rounds.map((round) => round[name]);
  const row = (title: string, all: readonly Fanout[]) => [
    title,
    cells.perSecond(median(all.map((one) => one.deliveriesPerSecond))),
    cells.decimals(median(all.map(({ p50Ms }) => p50Ms)), 0),
    cells.decimals(median(all.map(({ p99Ms }) => p99Ms)), 0),
    cells.percent(median(all.map(({ othersBusy }) => othersBusy))),
  ];
  return [
    `1,000 events, as fast as 16 connections get them acknowledged, to 48 destinations that answer at once; with two`,
    "more, of which one refuses connections and one never answers; contestants alternate; medians. Latency is from just",
    "before the commit of the event to the arrival at the 48; most of it is the time in the queue.",
    "",
    environment([pinning]),
    "",
    table(
      ["delivery to", "deliveries/s", "p50 ms", "p99 ms", "others' use of a core"],
      [
        row("48 healthy", fanouts("healthy")),
        row("48 healthy, one dead, one hanging", fanouts("broken")),
      ],
    ),
    "",
    goalTable([
      {
        goal: "p99 with one dead and one hanging ÷ without",
        ratios: rounds.map(({ broken, healthy }) => broken.p99Ms / healthy.p99Ms),
        caveat: disturbance([...fanouts("healthy"), ...fanouts("broken")]),
        target: 2,
        better: "lower",
      },
    ]),
  ].join("\n");
}
