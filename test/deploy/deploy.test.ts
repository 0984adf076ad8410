import { describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { readConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/errors.ts";
import { secretPlaces, secretStore } from "../../src/config/secrets.ts";
import { settings } from "../../src/config/settings.ts";
import { catalogue, defaultProviders } from "../../src/inbound/providers/catalogue.ts";
import { commandLine } from "../support/cli.ts";
import { noLoadBalancer } from "../support/load-balancer.ts";
import { notInstalled, skips } from "../support/skips.ts";

const { skyhook, serve, newFolder } = commandLine();
const root = join(import.meta.dir, "../..");
const textOf = (path: string): string => readFileSync(join(root, "deploy", path), "utf8");

type Tree = { readonly [key: string]: Tree } & { readonly [index: number]: Tree };

/** The value at a path such as `spec.replicas`. Throws if it is missing. */
function at(document: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((value, key) => {
    // Guarantee: a value that is no object has none of the keys, so the code below throws.
    const next = (Object(value) as Tree)[key];
    if (next === undefined) throw new Error(`There is no ${path}: ${key} is missing`);
    return next;
  }, document);
}

const documentsOf = (path: string): unknown[] => [Bun.YAML.parse(textOf(path))].flat();

/** The environment variables that Skyhook and its container use. */
const secretNames = catalogue.flatMap(({ id }) => Object.values(secretPlaces(id, "")));
const variables = new Set([
  ...Object.values(settings).map(({ key }) => key),
  ...secretNames.map(({ variable }) => variable),
  "PERSONAL_DATA_KEY",
  "PERSONAL_DATA_KEY_PREVIOUS",
  "NODE_ENV",
]);
/** The files that Skyhook reads in SECRETS_DIR. */
const secretFiles = new Set([
  ...secretNames.map(({ file }) => file),
  "personal_data_key",
  "personal_data_key_previous",
]);

const unknownIn = (names: Iterable<string>, known: ReadonlySet<string>) =>
  [...names].filter((name) => !known.has(name));

/** The files that `make-settings.sh` creates in an empty folder. */
function madeSettings() {
  const folder = mkdtempSync(join(tmpdir(), "skyhook-settings-"));
  try {
    const run = () => {
      const { exitCode, stderr } = Bun.spawnSync(["sh", "deploy/make-settings.sh", folder], {
        cwd: root,
      });
      expect(exitCode, stderr.toString()).toBe(0);
      return readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    };
    const first = run();
    expect(run()).toEqual(first);
    const entries = first
      .join("\n")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map(
        (line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const,
      );
    return Object.fromEntries(entries);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe("deploy/compose.yaml", () => {
  const [compose] = documentsOf("compose.yaml");

  test("has two identical instances, a load balancer and a database", () => {
    const instances = ["skyhook-one", "skyhook-two"].map((name) => at(compose, `services.${name}`));
    expect(instances[0]).toEqual(instances[1]);
    expect(textOf("haproxy.cfg")).toContain("skyhook-one:3111");
    expect(textOf("haproxy.cfg")).toContain("skyhook-two:3111");
    expect(String(at(compose, "services.load-balancer.volumes.0"))).toStartWith("./haproxy.cfg:");
    expect(at(compose, "services.postgres.healthcheck.test")).toContain("pg_isready");
  });

  test("sets only known settings, to valid values", () => {
    const { POSTGRES_PASSWORD: password = "", ...made } = madeSettings();
    const environment = Object.entries(Object(at(compose, "services.skyhook-one.environment"))).map(
      ([name, value]) => [name, String(value).replace(/\$\{POSTGRES_PASSWORD:[^}]*\}/, password)],
    );
    const env: Record<string, string> = { ...made, ...Object.fromEntries(environment) };
    expect(unknownIn(Object.keys(env), variables)).toEqual([]);
    const config = readConfig(env);
    expect(new URL(config.databaseUrl).password).toBe(password);
    expect(config.trustedProxyHops).toBe(1);
    const secrets = secretStore(env, "/nonexistent");
    expect(secrets.personalDataKeys("/nonexistent")).toHaveLength(1);
    expect(Object.keys(env).filter((name) => name.includes("WEBHOOK_SECRET"))).toEqual([]);
  });

  test("rotates a secret in its folder, and the old one stays accepted", async () => {
    const { POSTGRES_PASSWORD: _, ...made } = madeSettings();
    const cwd = newFolder();
    const mounted = String(at(compose, "services.skyhook-one.environment.SECRETS_DIR"));
    expect(at(compose, "services.skyhook-one.volumes.1")).toBe(`secrets:${mounted}`);
    expect(at(compose, "volumes")).toHaveProperty("secrets");
    expect(textOf("Dockerfile")).toContain(` ${mounted}\n`);
    const server = await serve({ cwd, env: { ...made, SECRETS_DIR: join(cwd, "volume") } });
    const set = (input: string) => skyhook(["secrets", "set", "github"], { ...server, input });
    const send = async (secret: string) => {
      const { out, err } = await skyhook(
        ["send", "code_host", "package.published", "--secret", secret],
        server,
      );
      return (out + err).slice(0, 3);
    };
    expect((await set("the-first-secret-of-github")).err).toBe("");
    expect(await send("the-first-secret-of-github")).toBe("200");
    expect((await set("the-second-secret-of-github")).out).toContain("still accepted");
    expect(await send("the-first-secret-of-github")).toBe("200");
    expect(await send("the-second-secret-of-github")).toBe("200");
    expect(await send("a-secret-of-someone-else")).not.toBe("200");
    await server.stop();
  });
});

describe("deploy/kubernetes", () => {
  const [deployment, service, budget] = documentsOf("kubernetes/skyhook.yaml");
  const [secret, webhooks] = documentsOf("kubernetes/secret.example.yaml");
  const pod = at(deployment, "spec.template.spec");
  const container = at(pod, "containers.0");

  test("probes routes that the program has", () => {
    expect(at(container, "startupProbe.httpGet.path")).toBe("/livez");
    expect(at(container, "livenessProbe.httpGet.path")).toBe("/livez");
    expect(at(container, "readinessProbe.httpGet.path")).toBe("/readyz");
    expect(at(container, "ports.0.containerPort")).toBe(Number(settings.port.default));
    expect(at(service, "spec.ports.0.targetPort")).toBe(at(container, "ports.0.name"));
  });

  test("gives a pod time for preStop and the shutdown of 10 s", () => {
    const preStop = Number(at(container, "lifecycle.preStop.exec.command.1"));
    expect(Number(at(pod, "terminationGracePeriodSeconds"))).toBeGreaterThan(preStop + 10);
  });

  test("selects the same pods everywhere and never disrupts all of them at once", () => {
    const labels = at(deployment, "spec.template.metadata.labels");
    expect(at(deployment, "spec.selector.matchLabels")).toEqual(labels);
    expect(at(service, "spec.selector")).toEqual(labels);
    expect(at(budget, "spec.selector.matchLabels")).toEqual(labels);
    expect(Number(at(budget, "spec.minAvailable"))).toBeLessThan(
      Number(at(deployment, "spec.replicas")),
    );
    expect(at(deployment, "spec.strategy.rollingUpdate.maxUnavailable")).toBe(0);
  });

  test("sets only known settings", () => {
    const env = [at(container, "env")].flat().map((entry) => String(at(entry, "name")));
    const fromSecret = Object.keys(Object(at(secret, "stringData")));
    expect(unknownIn([...env, ...fromSecret], variables)).toEqual([]);
    expect(unknownIn(Object.keys(Object(at(webhooks, "stringData"))), secretFiles)).toEqual([]);
    expect(at(container, "envFrom.0.secretRef.name")).toBe(at(secret, "metadata.name"));
    expect(at(pod, "volumes.0.secret.secretName")).toBe(at(webhooks, "metadata.name"));
    const secretsDir = [at(container, "env")].flat().find((e) => at(e, "name") === "SECRETS_DIR");
    expect(at(container, "volumeMounts.0.mountPath")).toBe(at(secretsDir, "value"));
  });

  test("does not start with the secrets of the example", () => {
    const jwtSecret = String(at(secret, "stringData.JWT_SECRET"));
    expect(() => readConfig({ JWT_SECRET: jwtSecret })).toThrow(ConfigError);
    const folder = mkdtempSync(join(tmpdir(), "skyhook-secrets-"));
    try {
      const files = Object.entries(Object(at(webhooks, "stringData")));
      for (const [name, value] of files) writeFileSync(join(folder, name), String(value));
      const store = secretStore({}, folder);
      expect(() => store.personalDataKeys("/nonexistent")).toThrow(ConfigError);
      for (const id of defaultProviders) {
        expect(() => store.webhookSecrets(id)).toThrow(ConfigError);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("deploy/skyhook.service", () => {
  const unit = textOf("skyhook.service");
  const valuesOf = (key: string) =>
    [...unit.matchAll(new RegExp(`^${key}=-?(.+)$`, "gm"))].map(([, value = ""]) => value);

  test("sets only known settings and loads every known secret", () => {
    const names = valuesOf("Environment").map((entry) => entry.split("=")[0] ?? "");
    expect(unknownIn(names, variables)).toEqual([]);
    expect(new Set(valuesOf("LoadCredential"))).toEqual(secretFiles);
  });

  test.skipIf(skips(notInstalled("systemd-analyze")))(
    "is what systemd understands, and is well closed off",
    () => {
      const folder = mkdtempSync(join(tmpdir(), "skyhook-unit-"));
      try {
        const file = join(folder, "skyhook.service");
        // The program is not installed on this machine.
        writeFileSync(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
        mkdirSync(`${file}.d`);
        writeFileSync(join(`${file}.d`, "folder.conf"), textOf("skyhook-secrets-folder.conf"));
        const verify = Bun.spawnSync(["systemd-analyze", "verify", file]);
        // systemd-analyze names unreadable files and unknown directives.
        expect(verify.stderr.toString()).toBe("");
        expect(verify.exitCode).toBe(0);
        // The exposure level, from 0 (safe) to 10 (exposed).
        const review = ["security", "--offline=true", "--threshold=20", file];
        expect(Bun.spawnSync(["systemd-analyze", ...review]).exitCode).toBe(0);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );
});

describe("deploy/Dockerfile", () => {
  const dockerfile = textOf("Dockerfile");
  const { version }: Record<string, string> = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );

  test("packs what the build makes, and sends no other file to the builder", () => {
    const program = /^ARG PROGRAM=(.+)$/m.exec(dockerfile)?.[1];
    const copied = [...dockerfile.matchAll(/^(?:COPY|ADD) (.+) \S+$/gm)].map(([, names]) => names);
    expect(copied).toEqual(["--chmod=0755 ${PROGRAM}"]);
    expect(textOf("Dockerfile.dockerignore").split("\n").slice(0, 2)).toEqual(["*", `!${program}`]);
    expect(textOf("kubernetes/skyhook.yaml")).toContain(`image: skyhook:${version}`);
  });

  test("runs as the unprivileged user of the Kubernetes manifests", () => {
    const user = /^USER (\d+)$/m.exec(dockerfile)?.[1];
    // The group has the same number, so that files in a volume are readable for both.
    expect(dockerfile).toContain(`useradd --uid ${user} --user-group `);
    expect(textOf("kubernetes/skyhook.yaml")).toContain(`runAsUser: ${user}`);
    expect(textOf("kubernetes/skyhook.yaml")).toContain(`runAsGroup: ${user}`);
  });

  test("has a health check that fails without a running server", async () => {
    const code = /--eval '(.+)'/.exec(dockerfile)?.[1] ?? "";
    const check = (port: number) =>
      Bun.spawn([process.execPath, "--eval", code], {
        env: { PORT: String(port) },
        stderr: "ignore",
      }).exited;
    let status = 200;
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) =>
        new Response("", { status: new URL(url).pathname === "/livez" ? status : 404 }),
    });
    expect(await check(server.port ?? 0)).toBe(0);
    status = 503;
    expect(await check(server.port ?? 0)).not.toBe(0);
    await server.stop(true);
    expect(await check(server.port ?? 0)).not.toBe(0);
  });
});

describe("deploy/haproxy.cfg", () => {
  test.skipIf(skips(noLoadBalancer))("is what HAProxy understands", () => {
    const { exitCode, stderr } = Bun.spawnSync(["haproxy", "-c", "-f", "deploy/haproxy.cfg"], {
      cwd: root,
      env: {
        PATH: `${process.env["PATH"]}:/usr/sbin`,
        SKYHOOK_ONE: "127.0.0.1:1",
        SKYHOOK_TWO: "127.0.0.1:2",
      },
    });
    expect(exitCode, stderr.toString()).toBe(0);
    expect(stderr.toString()).not.toContain("WARNING");
  });
});
