import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';

/**
 * A minimal receiver that accepts any PUT, counts the body's bytes and responds like the service. After the response,
 * it hashes the body and writes `<bytes> <sha256>` to the file named by the second argument, so the measured time
 * doesn't include verification. If there is a third argument, it also stores the body in that file.
 */
const [ready, last, keep] = process.argv.slice(2);
/** If the body is larger than this, hashing starts before the whole body has arrived. */
const maxHeldBytes = 256 * 1024 * 1024;

const server = createServer(async (request, response) => {
  const hash = createHash('sha256');
  const held: Buffer[] = [];
  let bytes = 0;
  if (request.method === 'PUT') rmSync(last!, { force: true });
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    held.push(chunk);
    if (bytes > maxHeldBytes) hash.update(held.shift()!);
  });
  const kept = keep !== undefined && request.method === 'PUT';
  if (kept) await pipeline(request, createWriteStream(keep));
  else await new Promise((resolve) => request.on('end', resolve));
  response.setHeader('content-type', 'application/json');
  response.end('{"meta":{"success":true,"status":200},"data":{}}\n');
  await once(response, 'close');
  for (const chunk of held) hash.update(chunk);
  if (request.method === 'PUT') writeFileSync(last!, `${bytes} ${hash.digest('hex')}`);
});
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') writeFileSync(ready!, String(address.port));
});
process.on('SIGTERM', () => {
  server.closeAllConnections();
  server.close();
});
