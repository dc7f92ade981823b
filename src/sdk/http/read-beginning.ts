/** The most bytes of a response that an error message is made from. */
const maxBytes = 64 * 1024;

/** Reads the beginning of a response's body, for an error message. The rest isn't read. */
export async function readBeginning(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    parts.push(part);
    size += part.length;
    if (size >= maxBytes) break;
  }
  return Buffer.concat(parts).toString('utf8', 0, maxBytes);
}
