import { createRequire } from 'node:module';
import { FTPContext } from 'basic-ftp';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Problem } from '../../src/lib/problem.ts';
import { protocols } from '../fuzz/protocols.ts';
import { replay } from '../fuzz/replay.ts';

const require = createRequire(import.meta.url);
type Methods = Record<string, () => unknown>;
const parserOf = (path: string) => (require(path) as { prototype: Methods }).prototype;
const placeIn = (path: string, method: string) => ({ holder: parserOf(path), method });

/** Functions that a driver calls in its socket's listeners. */
const inside: Readonly<Record<string, () => { holder: Methods; method: string }>> = {
  ftp: () => ({ holder: FTPContext.prototype as unknown as Methods, method: '_onControlSocketData' }),
  ssh: () => placeIn('ssh2/lib/protocol/Protocol.js', 'parse'),
  tds: () => placeIn('tedious/lib/incoming-message-stream', '_transform'),
  'tds tokens': () => placeIn('tedious/lib/token/stream-parser', 'read'),
};

it.each(Object.entries(inside))(
  "an error that the %s driver throws while it handles a peer's message fails only that source",
  async (name, place) => {
    const { holder, method } = place();
    const faulty = vi.spyOn(holder, method).mockImplementation(() => {
      throw new Error('a fault of the driver');
    });
    onTestFinished(() => faulty.mockRestore());
    const { dialog, greets = false, play } = protocols[name.split(' ')[0]!]!;
    const server = await replay({ dialog: dialog(), greets, isPushing: false, isSilent: true, quietMs: 250 });
    onTestFinished(() => server.close());
    const thrown = await play({ port: server.port, signal: new AbortController().signal, timeoutSeconds: 60 }).catch(
      (error: unknown) => error,
    );
    // Vitest fails on uncaught errors.
    expect(faulty).toHaveBeenCalled();
    expect(thrown).toBeInstanceOf(Problem);
    expect(`${(thrown as Problem).message} ${(thrown as Problem).seen}`).toContain('a fault of the driver');
  },
);
