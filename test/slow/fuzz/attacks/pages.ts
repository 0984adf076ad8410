import { answered, type Attack, flood } from "./attack.ts";

const pages = [
  "/openapi.json",
  "/swagger",
  "/console",
  "/graphql/playground",
  "/problems/internal",
];

export const pageAttacks: readonly Attack[] = [
  {
    name: "pages",
    about: "every page and the API document 60 times, 16 at a time",
    run: ({ fetch }) =>
      flood(pages.length * 60, 16, (n) =>
        answered(fetch(pages[n % pages.length] ?? "/", { headers: { accept: "text/html" } })),
      ),
  },
  {
    name: "ranges",
    about: "ranges and codings of pages that are odd, overlap or are many",
    async run({ fetch }) {
      const ranges = [
        `bytes=${"0-,".repeat(1_000)}0-`,
        "bytes=99999999999999999999-",
        "bytes=-1",
        `bytes=${Array.from({ length: 500 }, (_, n) => `${n}-${n + 1}`).join(",")}`,
        "lines=1-2",
      ];
      const codings = ["gzip;q=0", "*;q=0", "br,".repeat(2_000), "identity;q=0", "gzip;q=9e9"];
      await flood(pages.length * 25, 8, (n) => {
        const headers = {
          range: ranges[n % ranges.length] ?? "",
          "accept-encoding": codings[Math.floor(n / 5) % codings.length] ?? "",
          accept: "text/html",
        };
        return answered(fetch(pages[Math.floor(n / 25)] ?? "/", { headers }));
      });
    },
  },
];
