/**
 * Reads the body of a response of `plainFetch` as text. Throws as soon as more than `maxBytes` arrive, before or after
 * decompression. Some servers send gzip although it was not asked for; other codings are errors.
 */
export async function responseText(response: Response, maxBytes: number): Promise<string> {
  const bytes = await responseBytes(response, maxBytes);
  const coding = response.headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (coding !== "identity" && coding !== "gzip") {
    throw new Error(`the response has the coding ${coding}, which was not asked for`);
  }
  return new TextDecoder().decode(coding === "gzip" ? gunzipped(bytes, maxBytes) : bytes);
}

async function responseBytes(response: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw responseTooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function gunzipped(bytes: Buffer, maxBytes: number): Buffer {
  // Loaded on first use: few servers send gzip.
  const { gunzipSync } = process.getBuiltinModule("node:zlib");
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    const isTooLarge =
      error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    throw isTooLarge ? responseTooLarge(maxBytes) : error;
  }
}

function responseTooLarge(maxBytes: number): Error {
  return new Error(`the response is larger than ${maxBytes} bytes`);
}
