// Loaded before the slow tests: they run each command as users do, in a process of its own.
process.env["TEST_PROCESSES"] = "1";
