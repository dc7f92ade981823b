import { open, rm } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { forSuite, until } from '../journey/world.ts';
import { dieAt, openTheatre, type Stage, setStage, type Theatre } from './stage.ts';

const scope = forSuite();
let theatre: Theatre;

beforeAll(async () => {
  theatre = await openTheatre(scope);
});

/** Flips one bit in the middle of the owed payload; the file's size and time stay the same. */
async function flipBit({ home }: Stage): Promise<void> {
  const { path, bytes } = home.state().outbox.find(({ state }) => state === 'owed')!;
  const handle = await open(path, 'r+');
  const at = Math.floor(bytes / 2);
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, at);
  await handle.write(Buffer.of(buffer[0]! ^ 1), 0, 1, at);
  const { atime, mtime } = await handle.stat();
  await handle.utimes(atime, mtime);
  await handle.close();
}

describe('a payload with a flipped bit on disk', () => {
  it.for(['say payload.owed #1', 'say upload.started #1', 'read payload #2', 'say request.answered #1'])(
    'is never sent after a power failure before "%s"; it\'s reported as damaged, and the next run replaces it',
    async (step) => {
      const stage = await setStage(theatre);
      const { upstream, home, oracle } = stage;
      upstream.prunes = true;
      upstream.advance();
      await oracle.ended(await home.syncHere());
      const text = upstream.advance({ large: true });
      const ended = await home.sync(dieAt(stage, step));
      await oracle.ended(ended);
      const shown = await oracle.look();
      await flipBit(stage);

      expect(await home.syncHere()).toMatchObject({ code: 1, jobs: [{ state: 'failed' }] });
      expect(await oracle.look()).toBe(shown);
      const dead = home.state().outbox.find(({ state }) => state === 'dead');
      expect(dead).toMatchObject({ code: 'PAYLOAD_DAMAGED', bytes: text.length });
      const { stdout } = await home.sluice(['dead', 'show', 'rows']);
      expect(stdout).toContain('PAYLOAD_DAMAGED');
      expect((await home.sluice(['dead', 'send', 'rows'])).stderr).toContain('nothing was changed');

      upstream.advance();
      expect(await home.syncHere()).toMatchObject({ code: 0, jobs: [{ state: 'delivered' }] });
      await oracle.look();
      await oracle.expectInOrder();
    },
  );

  it("isn't sent even if the process that wrote it is waiting for its next attempt", async () => {
    const stage = await setStage(theatre);
    const { upstream, home, oracle, control, instance } = stage;
    upstream.advance();
    await oracle.ended(await home.syncHere());
    upstream.advance();
    await control.break(instance, { first: 1, answer: { status: 503, headers: { 'Retry-After': '2' } } });
    const sync = home.start(['sync', '--json']);
    await until('the payload to wait for a retry', () =>
      home.state().outbox.some(({ code }) => code === 'DELIVERY_FAILED'),
    );
    await flipBit(stage);
    const { code, stdout } = await sync.ended;
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ jobs: [{ state: 'dead', problem: { code: 'PAYLOAD_DAMAGED' } }] });
    expect(await oracle.look()).toBe(1);
    await oracle.ended(await home.syncHere());
    expect(await oracle.look()).toBe(2);
  });
});

it('a payload whose file is missing is reported, and the next run replaces it', async () => {
  const stage = await setStage(theatre);
  const { upstream, home, oracle } = stage;
  upstream.prunes = true;
  upstream.advance();
  await oracle.ended(await home.sync(dieAt(stage, 'say payload.owed #1')));
  await rm(home.state().outbox[0]!.path);
  expect(await home.syncHere()).toMatchObject({ code: 1 });
  expect(home.state().outbox).toMatchObject([{ state: 'dead', code: 'PAYLOAD_DAMAGED' }]);
  upstream.advance();
  expect(await home.syncHere()).toMatchObject({ code: 0, jobs: [{ state: 'delivered' }] });
  await oracle.look();
});
