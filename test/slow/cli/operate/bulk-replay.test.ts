import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { until } from "../../../support/app.ts";
import { allSecrets, commandLine } from "../../../support/cli.ts";
import { programWith, type RunningServer } from "../../../support/program.ts";
import { resources } from "../../../support/resources.ts";
import { openedBeside } from "../../../support/rows.ts";

const { skyhook } = commandLine();
const taken = resources();

const started = (cwd = taken.newFolder(), port = "0") =>
  taken.serve({ cwd, env: allSecrets, port });

async function deliver(server: RunningServer, count: number): Promise<void> {
  await skyhook(["send", "task_tracker", "task.completed"], server);
  // Copies of a real event, because commands are slow to start.
  using database = openedBeside(join(server.cwd, "data/skyhook.db"));
  for (let copy = 1; copy < count; copy += 1) {
    database.run(
      `insert into events select position + ?1 * 1024, tail, provider, type, status,
         idempotency_key || ?1, occurred_at, subject, title, url, actor, data, headers, address,
         signed_with, body_bytes, duplicates, null, body, recovered, effect, null, null, null, 0
       from events order by position limit 1`,
      [copy],
    );
  }
  await Bun.sleep(count);
}

/** How many notifications each event has. */
function notificationsOf(server: RunningServer): number[] {
  using database = openedBeside(join(server.cwd, "data/skyhook.db"));
  const rows = database
    .query<{ count: number }, []>(
      "select (select count(*) from notifications where event = events.position) as count from events order by position",
    )
    .all();
  return rows.map(({ count }) => count);
}

describe("skyhook replay of many events", () => {
  test("counts them with --dry-run, and replays them", async () => {
    const server = await started();
    await deliver(server, 3);
    const undelivered = ["--from", "1h", "--provider", "task_tracker"];
    const left = await skyhook(["replay", ...undelivered, "--dry-run"], server);
    expect(left.out).toStartWith(
      "2 events would be replayed\n1 event was delivered already; to replay it too: --include-delivered\n0 of the newest 2 ",
    );
    const choose = [...undelivered, "--include-delivered"];
    const dry = await skyhook(["replay", ...choose, "--dry-run"], server);
    expect(dry.out).toBe(
      "3 events would be replayed\n0 of the newest 3 would be interpreted differently\n1 of the newest 3 would be sent a second time\n",
    );
    expect([dry.err, dry.code]).toEqual(["", 0]);
    expect(notificationsOf(server)).toEqual([1, 0, 0]);
    const { out, err, code } = await skyhook(["replay", ...choose, "--yes"], server);
    expect(out).toBe(
      "finished: 3 of 3 events\n0 sent again, 3 with new notifications, 0 without notifications, 0 deleted meanwhile, 0 failed; 0 interpreted differently\n",
    );
    expect(err).toMatch(
      /^rpl_[0-9a-f]{32}: 3 events; to stop it: \S+( skyhook)? replay --stop rpl_/,
    );
    expect(code).toBe(0);
    expect(notificationsOf(server)).toEqual([2, 1, 1]);
    for (const filter of [
      ["--provider", "code_host"],
      ["--status", "ignored"],
    ]) {
      const none = await skyhook(["replay", "--from", "1h", ...filter, "--dry-run"], server);
      expect([filter, none.out]).toEqual([filter, "0 events would be replayed\n"]);
    }
    const misspelt = [...undelivered.slice(0, 3), "task-tracker", "--dry-run"];
    const unknown = await skyhook(["replay", ...misspelt], server);
    expect([unknown.code, unknown.out]).toEqual([1, ""]);
    expect(unknown.err).toContain("Did you mean task_tracker (Todoist)?");
    const typed = ["--delivery", "delivered", "--type", "task.*", "--to", "0s", "--dry-run"];
    expect((await skyhook(["replay", ...typed], server)).code).toBe(2);
  });

  test("shows what this version makes of the same bytes", async () => {
    const server = await started();
    await deliver(server, 1);
    using database = openedBeside(join(server.cwd, "data/skyhook.db"));
    database.run("update events set title = 'Old'");
    const { out } = await skyhook(
      ["replay", "--from", "1h", "--include-delivered", "--dry-run"],
      server,
    );
    expect(out).toContain(
      "1 of the newest 1 would be interpreted differently\n1 of the newest 1 would be sent a second time\nevt_",
    );
    expect(out).toMatch(/^ {2}title: "Old" -> "Task completed.*: .*"$/m);
  });

  test("stops and resumes", async () => {
    const server = await started();
    await deliver(server, 30);
    const running = taken.running(
      ["replay", "--from", "1h", "--include-delivered", "--yes", "--rate", "5"],
      server,
    );
    await running.shows(/to stop it/);
    const [id = ""] = /rpl_[0-9a-f]+/.exec(running.err()) ?? [];
    await until(() => notificationsOf(server).filter((count) => count > 0).length > 2, 20_000);
    const stopped = await skyhook(["replay", "--stop", id], server);
    expect(stopped.out).toStartWith("stopped: ");
    expect(await running.exited).toBe(0);
    expect(running.err()).toContain(`replay --resume ${id}`);
    const left = notificationsOf(server).filter((count) => count === 0).length;
    expect(left).toBeGreaterThan(0);
    const resumed = await skyhook(["replay", "--resume", id], server);
    expect(resumed.out).toStartWith("finished: 30 of 30 events\n");
    expect(notificationsOf(server)).toEqual([2, ...Array.from({ length: 29 }, () => 1)]);
  });

  test("continues after kills of the server, and replays each event once", async () => {
    let server = await started();
    const { port } = new URL(server.url);
    await deliver(server, 60);
    const running = taken.running(
      ["replay", "--from", "1h", "--include-delivered", "--yes", "--rate", "20"],
      server,
    );
    await running.shows("to stop it");
    const done = () => notificationsOf(server).filter((count) => count > 0).length;
    for (const enough of [10, 25, 40]) {
      await until(() => done() > enough, 20_000);
      await server.kill();
      server = await started(server.cwd, port);
    }
    await until(() => done() === 60, 20_000);
    const [id = ""] = /rpl_[0-9a-f]+/.exec(running.err()) ?? [];
    const end = await skyhook(["replay", "--resume", id], server);
    expect(end.out).toStartWith("finished: 60 of 60 events\n");
    expect(notificationsOf(server)).toEqual([2, ...Array.from({ length: 59 }, () => 1)]);
  });

  test("of one event ignores what is for many, and --dry-run replays nothing", async () => {
    const server = await started();
    await deliver(server, 1);
    const { out } = await skyhook(["events", "--json"], server);
    const [id = ""] = out.match(/evt_[0-9a-f]+/) ?? [];
    const dry = await skyhook(["replay", id, "--dry-run", "--yes"], server);
    expect([dry.code, dry.out]).toEqual([
      0,
      expect.stringContaining("1 of the newest 1 would be sent a second time"),
    ]);
    expect(notificationsOf(server)).toEqual([1]);
    expect((await skyhook(["replay", id, "--yes", "--rate", "5"], server)).code).toBe(0);
    expect(notificationsOf(server)).toEqual([2]);
  });

  test("asks in a terminal, and for the number of many that were delivered already", async () => {
    const server = await started();
    await deliver(server, 1_001);
    const ask = async (typed: string, ...args: string[]) => {
      let shown = "";
      const command = [...programWith(), "replay", "--from", "1h", ...args];
      const child = Bun.spawn(command, {
        cwd: server.cwd,
        env: { ...process.env, ...server.env },
        terminal: { data: (_, bytes) => void (shown += Buffer.from(bytes).toString()) },
      });
      await until(() => /Replay them\?|type 1001:/.test(shown), 20_000);
      child.terminal?.write(`${typed}\n`);
      await child.exited;
      return shown;
    };
    const once = await ask("n");
    expect(once).toContain("1000 events would be replayed, in 20 s at 50/s");
    expect(once).toContain("Nothing is replayed");
    const again = await ask("y", "--include-delivered", "--rate", "1000");
    expect(again).toContain("1001 events would be replayed, in 2 s at 1000/s");
    expect(again).toContain("Nothing is replayed");
    expect(await ask("1001", "--include-delivered", "--rate", "1000")).toContain("1001 of 1001");
  }, 60_000);

  test("explains errors", async () => {
    const server = await started();
    const replay = (...args: string[]) => skyhook(["replay", ...args], server);
    const [none, bare, again, both, filterOnly, state, unknown] = await Promise.all([
      replay(),
      replay("--dry-run", "--rate", "5", "--yes"),
      replay("--from", "1h", "--include-delivered"),
      replay("evt_0", "--from", "1h"),
      replay("--provider", "task_tracker"),
      replay("--delivery", "lost"),
      replay("--stop", "rpl_0"),
    ]);
    const resumed = await replay("--resume", "rpl_0", "--dry-run");
    expect([resumed.err, resumed.code]).toEqual([expect.stringContaining("alone"), 2]);
    const either =
      "Name one event id, or choose events with --from, --delivery, --q, --subject or --idempotency-key";
    for (const { err } of [none, bare, filterOnly]) expect(err).toContain(either);
    expect(again.err).toContain("then add --yes");
    expect(both.err).toContain("An id names one event: leave out --from");
    expect(unknown.err).toContain("The server answers 404");
    for (const { code } of [none, bare, again, both, filterOnly, state]) expect(code).toBe(2);
    expect(unknown.code).toBe(1);
  });
});
