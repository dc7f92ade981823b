import { beforeAll, expect, it } from 'vitest';
import { forSuite, until } from '../journey/world.ts';
import { dieAt, openTheatre, setStage, type Theatre } from './stage.ts';

const scope = forSuite();
let theatre: Theatre;

beforeAll(async () => {
  theatre = await openTheatre(scope);
});

it("a payload isn't given up if each of its uploads ends in a power failure, because the service never refused it", async () => {
  const stage = await setStage(theatre, { destination: { attempts: 2 } });
  const { upstream, home, oracle } = stage;
  upstream.prunes = true;
  upstream.advance({ large: true });
  for (const step of ['say upload.started #1', 'read payload #2', 'read payload #1', 'say request.answered #1']) {
    const ended = await home.sync(dieAt(stage, step));
    expect(ended, step).toMatchObject({ signal: 'SIGKILL' });
    await oracle.ended(ended);
  }
  await oracle.rest();
  expect(await oracle.look()).toBe(upstream.version);
});

it('a failed attempt still counts after any number of power failures', async () => {
  const stage = await setStage(theatre, { destination: { attempts: 3 } });
  const { upstream, home, oracle, control, instance } = stage;
  upstream.prunes = true;
  upstream.advance();
  await control.break(instance, { answer: { status: 503 } });
  expect((await home.syncHere({ waitSeconds: 0 })).jobs).toMatchObject([{ state: 'waiting_retry' }]);
  const attempts = () => home.state().outbox.map(({ attempts, state }) => [state, attempts]);
  expect(attempts()).toEqual([['owed', 1]]);
  for (let i = 0; i < 2; i++) {
    await until('the retry to be due', async () => {
      const ended = await home.sync(dieAt(stage, 'say upload.started #1'));
      return ended.signal === 'SIGKILL';
    });
    expect(attempts()).toEqual([['owed', 2]]);
  }
  await home.syncHere();
  expect(attempts(), "two failed, and the power failures between them don't count").toEqual([['owed', 2]]);
  expect(await oracle.look()).toBe(0);
  await control.repair();
  await oracle.rest();
  expect(await oracle.look()).toBe(1);
});
