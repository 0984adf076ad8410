import { describe, expect, test } from "bun:test";

import { taskTracker } from "../../../src/inbound/providers/task_tracker.ts";
import { interpretPayload, now, replaced, sampleBody } from "../../support/providers.ts";

describe("task_tracker", () => {
  const body = (type: string) => sampleBody(taskTracker, type);

  test("titles a completed recurring task", () => {
    expect(interpretPayload(taskTracker, body("task.completed")).title).toBe(
      "Task completed (recurring): Rotate the signing keys",
    );
    const once = { ...body("task.completed"), event_data: { id: "6XR4", content: "Pay rent" } };
    expect(interpretPayload(taskTracker, once)).toMatchObject({
      title: "Task completed: Pay rent",
      subject: "task/6XR4",
      url: "https://app.todoist.com/app/task/6XR4",
      data: { task: "Pay rent" },
    });
  });

  test("includes the due date of a new task", () => {
    expect(interpretPayload(taskTracker, body("task.created")).title).toBe(
      "Task created: Rotate the signing keys (due every month)",
    );
  });

  test("includes the task of a comment and the comment's first line", () => {
    expect(interpretPayload(taskTracker, body("comment.added")).title).toBe(
      "Comment on Rotate the signing keys: Done on host A, B waits",
    );
    const long = replaced(body("comment.added"), ["event_data", "content"], "\r\n One\nTwo");
    expect(interpretPayload(taskTracker, long).data["comment"]).toBe("One");
  });

  test("a comment on a project has no task", () => {
    const comment = { id: "6XR7", posted_uid: "2671355", project_id: "6XR4H", content: "Kick-off" };
    const event = interpretPayload(taskTracker, {
      event_name: "note:added",
      event_data: comment,
      triggered_at: "2026-11-21T09:12:44.120000Z",
    });
    expect(event).toMatchObject({
      status: "accepted",
      title: "Comment on a project: Kick-off",
      subject: "project/6XR4H",
      url: "https://app.todoist.com/app/project/6XR4H",
      actor: "2671355",
      occurredAt: now,
    });
  });
});
