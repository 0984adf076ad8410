#!/usr/bin/env bun
import { runCli } from "./cli/cli.ts";

await runCli(process.argv, process.env);
