import { beforeAll, describe, expect, it } from 'vitest';
import { forSuite } from '../journey/world.ts';
import { handOf, randomOf, seeds } from './seeds.ts';
import { dieAt, openTheatre, setStage, stepsOf, type Theatre } from './stage.ts';
import { usualRows } from './upstream.ts';

const scope = forSuite();
let theatre: Theatre;
/** Every durable step and event of a sync that replaces older rows. */
let steps: readonly string[];

beforeAll(async () => {
  theatre = await openTheatre(scope);
  const stage = await setStage(theatre, { scope });
  for (const how of [{}, dieAt(stage, '')]) {
    stage.upstream.advance({ large: true });
    await stage.oracle.ended(await stage.home.sync(how));
  }
  steps = (await stepsOf(stage)).filter(isOfInterest);
});

/** If many chunks follow each other, test only the first, the second and one in the middle. */
function isOfInterest(step: string): boolean {
  return !/^(write|read) /.test(step) || /#(1|2|4)$/.test(step);
}

it('a sync consists of durable steps: extract, payload, outbox, upload, receipt, quota', () => {
  for (const step of [
    'commit insert into runs',
    'create half-written',
    'write half-written',
    'sync half-written',
    'rename half-written',
    'sync folder',
    'say payload.spooled',
    'say payload.owed',
    'say upload.started',
    'read payload',
    'commit update send_slots set',
    'say request.answered',
    'say payload.delivered',
  ]) {
    expect(steps).toContain(`${step} #1`);
  }
});

describe.for([
  { upstream: 'can be read again', prunes: false },
  { upstream: 'forgets what it has returned', prunes: true },
])('syncs from a source that $upstream, killed before each durable step,', ({ prunes }) => {
  it.for(seeds)('show only complete versions, never an older one, and lose nothing owed (seed %i)', async (seed) => {
    const random = randomOf(seed);
    const stage = await setStage(theatre);
    const { upstream, oracle, home } = stage;
    upstream.prunes = prunes;
    upstream.advance({ large: true });
    await oracle.ended(await home.syncHere());
    let killed = 0;
    // Before the payload is complete, it doesn't matter whether the source forgets rows: nothing has been promised yet.
    const hand = handOf(seed, prunes ? steps.slice(steps.indexOf('say extract.progressed #1')) : steps);
    for (const step of hand) {
      if (random() < 0.8 || prunes) upstream.advance({ large: random() < 0.8 });
      const ended = await home.sync(dieAt(stage, step));
      await oracle.ended(ended);
      if (ended.signal !== null) killed += 1;
    }
    expect(killed, 'most of the kills found their step').toBeGreaterThan(hand.length / 2);
    await oracle.rest();
  });
});

/** Ways to keep rows. Seeds alternate between them, because most steps of a run are the same in both. */
const ways = [
  { disposition: 'merge', key: 'id' },
  // The size of a version: the result is complete only if it contains each row exactly once.
  { disposition: 'append', retain: { rows: usualRows + 1 } },
]
  .map((write, i, { length }) => ({ write, own: seeds.filter((seed) => seed % length === i) }))
  .filter(({ own }) => own.length > 0);
/** Generations are deleted as soon as no run needs them. */
const top = { keep: { payloads: 0 } };

describe.each(ways)(
  'a job with kept rows ($write.disposition), killed before each durable step that writes them,',
  ({ write, own }) => {
    let steps: readonly string[];

    beforeAll(async () => {
      const stage = await setStage(theatre, { scope, job: { write }, top });
      for (const how of [{}, {}, dieAt(stage, '')]) {
        stage.upstream.advance({ large: true });
        await stage.oracle.ended(await stage.home.sync(how));
      }
      const all = await stepsOf(stage);
      const [from, to] = [all.indexOf('say extract.started #1'), all.indexOf('say payload.owed #1')];
      // After these come the steps of every sync, and the deletion of rows that are no longer needed.
      steps = all.filter((step, i) => i >= from && isOfInterest(step) && (i <= to || /generations|^rm/.test(step)));
      for (const step of ['create payload #1', 'sync payload #1', 'commit delete from generations #1']) {
        expect(steps).toContain(step);
      }
    });

    it.for(own)('shows only complete versions, never an older one and no row twice (seed %i)', async (seed) => {
      const random = randomOf(seed);
      const stage = await setStage(theatre, { job: { write }, top });
      const { upstream, oracle, home } = stage;
      upstream.prunes = random() < 0.5;
      for (let before = 0; before < 2; before++) {
        upstream.advance({ large: true });
        await oracle.ended(await home.syncHere());
      }
      let killed = 0;
      const hand = handOf(seed, steps);
      for (const step of hand) {
        upstream.advance({ large: random() < 0.8 });
        const ended = await home.sync(dieAt(stage, step));
        await oracle.ended(ended);
        if (ended.signal !== null) killed += 1;
      }
      expect(killed, 'most of the kills found their step').toBeGreaterThan(hand.length / 2);
      await oracle.rest();
    });
  },
);

it('a watermark is never ahead of its payload, no matter which step before the upload is interrupted', async () => {
  const stage = await setStage(theatre, { job: { query: { path: '/rows.csv', conditional: true } } });
  const { upstream, oracle, home } = stage;
  upstream.isConditional = true;
  upstream.advance();
  await oracle.ended(await home.syncHere());
  upstream.advance();
  await oracle.ended(await home.sync(dieAt(stage, '')));
  const all = await stepsOf(stage);
  const place = all.slice(all.indexOf('say payload.spooled #1'), all.indexOf('say upload.started #1') + 1);
  expect(place).toContain('say payload.owed #1');
  for (const step of place.filter(isOfInterest)) {
    upstream.advance();
    expect(await home.sync(dieAt(stage, step)), step).toMatchObject({ signal: 'SIGKILL' });
    expect(await oracle.ended(await home.syncHere()), `${step}: "nothing has changed" would be false`).toBe(
      upstream.version,
    );
  }
  expect((await home.syncHere()).jobs).toMatchObject([{ state: 'unchanged', requests: 0, rows: 0 }]);
  await oracle.expectInOrder();
});
