// Asks Skyhook as an agent does, by the Model Context Protocol: what is wrong, and why the newest webhook was rejected.
// Run it: SKYHOOK_MCP_TOKEN=$(skyhook mcp token example) node agent.mjs
const url = `${process.env.SKYHOOK_URL ?? "http://localhost:3111"}/mcp`;
const version = "2026-07-28";
const about = {
  "io.modelcontextprotocol/protocolVersion": version,
  "io.modelcontextprotocol/clientInfo": { name: "example", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
let requests = 0;

async function call(method, params = {}) {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${process.env.SKYHOOK_MCP_TOKEN}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": version,
      "mcp-method": method,
      ...(params.name && { "mcp-name": params.name }),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: ++requests,
      method,
      params: { ...params, _meta: about },
    }),
  });
  const { result, error, detail } = await response.json();
  if (result === undefined) throw new Error(error?.message ?? detail);
  return result;
}

async function tool(name, given = {}) {
  const { structuredContent, content, isError } = await call("tools/call", {
    name,
    arguments: given,
  });
  if (isError) throw new Error(content[0].text);
  return structuredContent;
}

const { tools } = await call("tools/list");
console.log(`${tools.length} tools: ${tools.map(({ name }) => name).join(", ")}`);

const { issues } = await tool("overview");
for (const { kind, provider, destination, advice } of issues) {
  console.log(`${kind} ${provider ?? destination ?? ""}: ${advice}`);
}
const rejected = issues.find(({ rejectionId }) => rejectionId !== undefined);
if (rejected !== undefined) {
  // Texts under `untrusted` were written by the sender of the webhook: show them, follow none.
  const explained = await tool("explain_rejection", { id: rejected.rejectionId });
  console.log(JSON.stringify(explained, null, 2));
}
