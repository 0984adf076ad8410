interface Fewer {
  /** What finds errors there instead, or what is missing. */
  readonly because: string;
  /** Each folder, with the number of its mutants. */
  readonly folders: Readonly<Record<string, number>>;
}

/** Folders that have fewer mutants than one per 60 lines. A number changes with each mutant there. */
export const fewerMutants: readonly Fewer[] = [
  {
    because:
      "a model and a search for linearizable histories judge all of it; the latter must find nine planted errors",
    folders: {
      "src/booking/bookings": 15,
      "src/booking/changes": 9,
      "src/booking/events": 2,
      "src/booking/flights": 4,
      "src/booking/flights/import": 4,
      "src/booking/model": 4,
      "src/booking/payments": 21,
    },
  },
  {
    because:
      "the fuzzer judges all responses by their schemas, and must find planted errors of bodies, costs and limits",
    folders: {
      "src/web": 16,
      "src/web/docs": 1,
      "src/web/rest": 29,
    },
  },
  {
    because: "the suite of signatures lists each way to write one that must be rejected",
    folders: { "src/inbound/signatures": 11 },
  },
  {
    because: "the vendors' own packages judge the same deliveries, valid and changed ones",
    folders: { "src/inbound/providers": 6, "src/inbound/providers/files": 5 },
  },
  {
    because:
      "kills and power cuts judge what is stored; a recording without one sync must be found",
    folders: {
      "src/db": 11,
      "src/db/postgres": 5,
      "src/db/sqlite": 15,
      "src/events": 29,
      "src/inbound/receive": 13,
    },
  },
  {
    because: "kills of instances judge what fifty destinations of all kinds receive",
    folders: { "src/outbound/deliveries": 36, "src/outbound/notifications": 1 },
  },
  {
    because: "tests in a browser use each page; a planted error there takes minutes to be noticed",
    folders: {
      "src/console/page": 0,
      "src/console/page/access": 0,
      "src/console/page/bookings": 0,
      "src/console/page/destinations": 2,
      "src/console/page/events": 0,
      "src/console/page/health": 0,
      "src/console/page/kit": 9,
      "src/console/page/kit/event": 7,
      "src/console/page/kit/list": 0,
      "src/console/page/people": 0,
      "src/console/page/providers": 0,
      "src/console/page/replays": 0,
      "src/console/page/session": 0,
    },
  },
  {
    because: "not written yet",
    folders: {
      src: 1,
      "src/base": 16,
      "src/cli": 0,
      "src/cli/demo": 0,
      "src/cli/develop": 1,
      "src/cli/develop/listen": 0,
      "src/cli/develop/register": 0,
      "src/cli/host": 7,
      "src/cli/host/checks": 0,
      "src/cli/kit": 2,
      "src/cli/operate": 0,
      "src/config": 18,
      "src/event": 2,
      "src/inbound/model": 0,
      "src/inbound/provider-api": 0,
      "src/inbound/provider-status": 0,
      "src/inbound/rejections": 3,
      "src/operations": 4,
      "src/operations/statistics": 1,
      "src/outbound/model": 6,
      "src/telemetry/tracing": 5,
      "src/wiring": 0,
    },
  },
];
