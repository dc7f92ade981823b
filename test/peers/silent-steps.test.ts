import { it, type TestContext } from 'vitest';
import { Problem } from '../../src/lib/problem.ts';
import { protocols } from '../fuzz/protocols.ts';
import { replay } from '../fuzz/replay.ts';

/** How many chunks a server sends before Sluice is logged in. Until then, the connect timeout applies. */
const loginPieces: Readonly<Record<string, number>> = {
  postgres: 2,
  mysql: 2,
  tds: 3,
  ftp: 9,
  ssh: 3,
  rest: 0,
  smtp: 0,
};
const logins = Object.entries(loginPieces).flatMap(([name, pieces]) =>
  Array.from({ length: Math.max(1, pieces) }, (_, said) => [name, said] as const),
);
const steps = Object.entries(protocols)
  .filter(([, { isNeverSilent }]) => !isNeverSilent)
  .flatMap(([name, { dialog }]) => dialog().map((_, said) => [name, said] as const));

type Silence = Pick<TestContext, 'onTestFinished'> & { readonly signal: AbortSignal };

/** A peer that goes silent after this many chunks and never disconnects. */
async function playSilent(name: string, said: number, { signal, onTestFinished }: Silence) {
  const protocol = protocols[name]!;
  const { greets = false, data = () => [] } = protocol;
  const dialog = protocol.dialog().slice(0, said);
  const server = await replay({ dialog, data: data(), greets, isPushing: false, isSilent: true });
  onTestFinished(() => server.close());
  const played = protocol.play({ port: server.port, signal }).catch((thrown: unknown) => thrown);
  return { played, server };
}

it.concurrent.for(logins)(
  'a connection times out if the %s peer goes silent after %i pieces',
  async ([name, said], { expect, onTestFinished }) => {
    const { played, server } = await playSilent(name, said, { signal: new AbortController().signal, onTestFinished });
    const thrown = await played;
    expect(thrown).toBeInstanceOf(Error);
    if (thrown instanceof Problem) expect(thrown.family).toBe('try_later');
    await expect.poll(server.open).toBe(0);
  },
);

it.concurrent.for(steps)(
  'a connection to a %s peer that goes silent after %i pieces is closed when the run stops',
  async ([name, said], { expect, onTestFinished }) => {
    const stop = new AbortController();
    const { played, server } = await playSilent(name, said, { signal: stop.signal, onTestFinished });
    await Promise.race([played, server.silent]);
    stop.abort(new Error('stopped'));
    await played;
    await expect.poll(server.open).toBe(0);
  },
);
