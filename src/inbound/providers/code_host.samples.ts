import type { Fresh, Sample } from "./provider.ts";

const ada = {
  login: "ada",
  id: 101,
  html_url: "https://github.com/ada",
  type: "User",
  site_admin: false,
};
const acme = { login: "acme", id: 11, description: "" };
const repository = {
  id: 501,
  name: "web",
  full_name: "acme/web",
  private: true,
  owner: { login: "acme", id: 11, type: "Organization" },
  html_url: "https://github.com/acme/web",
  default_branch: "main",
};

/** The service's ids are numbers. */
const freshNumber = ({ id }: Fresh) => Number.parseInt(id.slice(-12), 16);

const request =
  (event: string, particulars: (number: number, now: string) => object): Sample =>
  (fresh) => ({
    headers: {
      "X-CodeHost-Event": event,
      "X-CodeHost-Delivery": fresh.id,
      "User-Agent": "GitHub-Hookshot/044aadd",
    },
    body: {
      ...particulars(freshNumber(fresh), fresh.now.toISOString()),
      repository,
      organization: acme,
      sender: ada,
    },
  });

export const samples: Readonly<Record<string, Sample>> = {
  "workflow_run.completed": request("workflow_run", (number, now) => ({
    action: "completed",
    workflow_run: {
      id: number,
      name: "CI",
      path: ".github/workflows/ci.yml",
      display_title: "Fix cart",
      event: "push",
      status: "completed",
      conclusion: "failure",
      workflow_id: 5,
      check_suite_id: 4_683_454_167,
      head_branch: "main",
      head_sha: "3f2c9b7e5d1a48c06f4b2e9d7a1c5083b6e4f29d",
      run_number: 163,
      run_attempt: 1,
      html_url: `https://github.com/acme/web/actions/runs/${number}`,
      pull_requests: [],
      created_at: now,
      run_started_at: now,
      updated_at: now,
      actor: ada,
      triggering_actor: ada,
      head_commit: {
        id: "3f2c9b7e5d1a48c06f4b2e9d7a1c5083b6e4f29d",
        message: "Fix cart\n\nTotals were rounded twice.",
        timestamp: now,
        author: { name: "Ada", email: "ada@example.com" },
      },
      head_repository: { id: 501, full_name: "acme/web" },
    },
    workflow: { id: 5, name: "CI", path: ".github/workflows/ci.yml", state: "active" },
  })),
  "package.published": request("package", (number, now) => ({
    action: "published",
    package: {
      id: 7,
      name: "web",
      namespace: "acme",
      description: "",
      ecosystem: "npm",
      package_type: "npm",
      html_url: "https://github.com/acme/web/packages/7",
      created_at: "2026-01-12T08:00:00Z",
      updated_at: now,
      owner: { login: "acme", id: 11, type: "Organization" },
      package_version: {
        id: number,
        version: "1.4.0",
        name: "1.4.0",
        summary: "",
        html_url: "https://github.com/acme/web/packages/7?version=1.4.0",
        tag_name: "1.4.0",
        body: "# web\n\nThe shop.",
        body_html: "<h1>web</h1>\n<p>The shop.</p>",
        metadata: [],
        package_files: [],
        author: ada,
        installation_command: "npm install @acme/web@1.4.0",
      },
      registry: {
        name: "GitHub npm registry",
        type: "npm",
        url: "https://npm.pkg.github.com/acme",
      },
    },
  })),
};
