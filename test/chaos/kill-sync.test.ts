import { beforeAll, describe, expect, it } from 'vitest';
import { forSuite } from '../journey/world.ts';
import { handOf, randomOf, seeds } from './seeds.ts';
import { dieAt, openTheatre, setStage, stepsOf, type Theatre } from './stage.ts';

const scope = forSuite();
let theatre: Theatre;
/** Everything durable that a sync does which replaces older rows, and everything that it says. */
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

/** Of many pieces in a row, the first, the second and one in the middle stand for all. */
function isOfInterest(step: string): boolean {
  return !/^(write|read) /.test(step) || /#(1|2|4)$/.test(step);
}

it('a sync is a list of durable steps: extract, payload, outbox, upload, receipt, quota', () => {
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
    'commit update sends set',
    'say request.answered',
    'say payload.delivered',
  ]) {
    expect(steps).toContain(`${step} #1`);
  }
});

describe.for([
  { upstream: 'can be read again', prunes: false },
  { upstream: 'forgets what it has given', prunes: true },
])('a source that $upstream, and syncs that are killed before every durable step', ({ prunes }) => {
  it.for(seeds)('show whole versions, never an older one, and lose nothing owed (seed %i)', async (seed) => {
    const random = randomOf(seed);
    const stage = await setStage(theatre);
    const { upstream, oracle, home } = stage;
    upstream.prunes = prunes;
    upstream.advance({ large: true });
    await oracle.ended(await home.sync());
    let killed = 0;
    // Before the payload is whole, a source that forgets is as one that does not: nothing was promised yet.
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
