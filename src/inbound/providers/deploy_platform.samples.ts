import type { Sample } from "./provider.ts";

const request =
  (type: string): Sample =>
  ({ id, now }) => ({
    headers: {},
    body: {
      id: `whe_${id.slice(-12)}`,
      type,
      createdAt: now.getTime(),
      region: null,
      payload: {
        team: { id: "team_1" },
        user: { id: "usr_1" },
        deployment: {
          id: `dpl_${id.slice(-12)}`,
          name: "web",
          url: `web-${id.slice(-9)}-acme.vercel.app`,
          meta: {
            githubCommitRef: "main",
            githubCommitSha: "3f2c9b7e5d1a48c06f4b2e9d7a1c5083b6e4f29d",
            githubCommitMessage: "Fix cart",
            githubCommitAuthorName: "Ada",
          },
        },
        links: {
          deployment: `https://vercel.com/acme/web/dpl_${id.slice(-12)}`,
          project: "https://vercel.com/acme/web",
        },
        target: "production",
        project: { id: "prj_1" },
        plan: "pro",
        regions: ["fra1"],
      },
    },
  });

export const samples: Readonly<Record<string, Sample>> = {
  "deploy.created": request("deployment.created"),
  "deploy.succeeded": request("deployment.succeeded"),
  "deploy.error": request("deployment.error"),
  "deploy.canceled": request("deployment.canceled"),
};
