import { describe, expect, test } from "bun:test";

import { deployPlatform } from "../../../src/inbound/providers/deploy_platform.ts";
import {
  interpretPayload,
  notificationsOf,
  replaced,
  sampleBody,
} from "../../support/providers.ts";

describe("deploy_platform", () => {
  const body = sampleBody(deployPlatform, "deploy.succeeded");
  const typed = (type: string) => interpretPayload(deployPlatform, { ...body, type });
  const changed = (path: readonly string[], value: unknown) =>
    interpretPayload(deployPlatform, replaced(body, path, value));

  test("includes project, target, commit message and branch", () => {
    const event = interpretPayload(deployPlatform, body);
    expect(event).toMatchObject({
      title: "Deploy of web to production succeeded: Fix cart (main)",
      actor: "Ada",
      data: { branch: "main", commit: "3f2c9b7e5d1a", project: "web" },
    });
    expect(event.data["site"]).toMatch(/^https:\/\/web-[\da-f]{9}-acme\.vercel\.app\/$/);
  });

  test.each([
    ["deployment.created", "deploy.created", "info"],
    ["deployment.succeeded", "deploy.succeeded", "success"],
    ["deployment.error", "deploy.error", "error"],
    ["deployment.canceled", "deploy.canceled", "warning"],
    ["deploy.created", "deploy.created", "info"],
    ["deploy.succeeded", "deploy.succeeded", "success"],
    ["deploy.error", "deploy.error", "error"],
    ["deploy.canceled", "deploy.canceled", "warning"],
    ["deployment-ready", "deploy.succeeded", "success"],
    ["deployment-error", "deploy.error", "error"],
  ])("maps %s to %s with severity %s", (type, ours, severity) => {
    const event = typed(type);
    expect(event).toMatchObject({ status: "accepted", type: ours });
    expect(notificationsOf(deployPlatform, event)).toMatchObject([{ severity }]);
  });

  test.each(["deployment", "deployment.ready", "deployment.promoted", "project.created"])(
    "%s is not listed",
    (type) => {
      expect(typed(type)).toMatchObject({ status: "ignored", type });
    },
  );

  test("reads a null target as preview, also with a null team", () => {
    expect(changed(["payload", "target"], null).title).toStartWith("Deploy of web to preview");
    expect(changed(["payload", "team"], null).status).toBe("accepted");
  });

  test.each(["gitlab", "bitbucket"])("reads the commit of %s", (host) => {
    const meta = {
      [`${host}CommitRef`]: "dev",
      [`${host}CommitMessage`]: "Fix cart\n\nAnd more",
      [`${host}CommitAuthorName`]: "Grace",
    };
    const event = changed(["payload", "deployment", "meta"], meta);
    expect(event.title).toEndWith(": Fix cart (dev)");
    expect(event.actor).toBe("Grace");
  });

  test("reads a deploy from the command line, which has a user and no commit", () => {
    const event = changed(["payload", "deployment", "meta"], {});
    expect(event).toMatchObject({ title: "Deploy of web to production succeeded", actor: "usr_1" });
  });

  test("links to the site if there is no dashboard link and the host is valid", () => {
    const host = "web-acme.vercel.app";
    const without = replaced(body, ["payload", "links"], null);
    const siteAs = (url: string) =>
      interpretPayload(deployPlatform, replaced(without, ["payload", "deployment", "url"], url))
        .url;
    expect(siteAs(host)).toBe(`https://${host}/`);
    expect(siteAs(`${host}@evil.example`)).toBeNull();
    expect(siteAs("javascript:alert(1)")).toBeNull();
  });
});
