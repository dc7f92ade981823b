import { createHash } from 'node:crypto';
import { createWriteStream, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { pipeline } from 'node:stream/promises';

/**
 * A bare receiver in a process of its own: takes any PUT, counts and hashes the body, answers as the service does.
 * After each body it writes `<bytes> <sha256>` to the file given as second argument, so that a run whose bytes are not
 * the checked ones can be thrown out. With a third argument the body is kept there.
 */
const [ready, last, keep] = process.argv.slice(2);

const server = createServer(async (request, response) => {
  const hash = createHash('sha256');
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    hash.update(chunk);
  });
  const kept = keep !== undefined && request.method === 'PUT';
  if (kept) await pipeline(request, createWriteStream(keep));
  else await new Promise((resolve) => request.on('end', resolve));
  if (request.method === 'PUT') writeFileSync(last!, `${bytes} ${hash.digest('hex')}`);
  response.setHeader('content-type', 'application/json');
  response.end('{"meta":{"success":true,"status":200},"data":{}}\n');
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
