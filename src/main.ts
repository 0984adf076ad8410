#!/usr/bin/env bun
import { run } from "./cli/run.ts";

await run(process.argv, process.env);
