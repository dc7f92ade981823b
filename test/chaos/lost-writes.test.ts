import { beforeAll, describe, expect, it } from 'vitest';
import { forSuite } from '../journey/world.ts';
import { LosingDisk } from './losing-disk.ts';
import { handOf, randomOf, seeds } from './seeds.ts';
import { dieAt, openTheatre, type Stage, setStage, stepsOf, type Theatre } from './stage.ts';

const scope = forSuite();
let theatre: Theatre;

beforeAll(async () => {
  theatre = await openTheatre(scope);
});

/** Each of these changes the disk or reports something. */
const isOfInterest = (step: string) => /^(commit|sync|rename|rm|say|mkdir) /.test(step) && !/progressed/.test(step);
/** At this step, the payload is owed and has no other copy, so losing it would be permanent. */
const dearest = 'say upload.started #1';

/**
 * A power failure before a step. Everything that the process has reported until then must be true of what the disk
 * still has.
 */
async function cut(stage: Stage, disk: LosingDisk, step: string, survives: () => boolean): Promise<void> {
  const { home, oracle, upstream } = stage;
  const before = (await stepsOf(stage).catch(() => [])).length;
  const ended = await home.sync(disk.watch(dieAt(stage, step)));
  const said = (await stepsOf(stage)).slice(before);
  disk.lose(survives);
  if (said.includes('say payload.owed #1')) oracle.promised(upstream.version);
  await oracle.ended(ended);
}

/** Ways to deliver rows: all of them each time, or with kept rows. */
const jobs = [{}, { write: { disposition: 'merge', key: 'id' } }]
  .map((job, i, { length }) => ({ job, own: seeds.filter((seed) => seed % length === i) }))
  .filter(({ own }) => own.length > 0);

describe.each(jobs)('a disk that loses all unsynced writes (job: $job)', ({ job, own }) => {
  let steps: readonly string[];

  beforeAll(async () => {
    const stage = await setStage(theatre, { scope, job });
    for (const how of [{}, dieAt(stage, '')]) {
      stage.upstream.advance();
      await stage.oracle.ended(await stage.home.sync(how));
    }
    steps = (await stepsOf(stage)).filter(isOfInterest);
  });

  it.for(own)('still has the owed payloads and an intact database (seed %i)', async (seed) => {
    const random = randomOf(7000 + seed);
    const stage = await setStage(theatre, { job });
    const { upstream, oracle, home } = stage;
    const disk = new LosingDisk(home);
    upstream.prunes = true;
    upstream.advance();
    const first = await home.sync(disk.watch());
    disk.lose();
    expect(await oracle.ended(first), 'a created folder exists').toBe(1);
    for (const step of [dearest, ...handOf(seed, steps).slice(0, 4)]) {
      upstream.advance();
      const isMerciless = step === dearest || random() < 0.5;
      await cut(stage, disk, step, () => !isMerciless && random() < 0.5);
      const next = await home.sync(disk.watch());
      disk.lose();
      expect(await oracle.ended(next), `${step}: what was owed is shown`).toBeGreaterThanOrEqual(oracle.owed);
    }
    upstream.advance();
    await oracle.rest();
  });
});
