import { beforeAll, describe, expect, it } from 'vitest';
import { type Ended, forSuite } from '../journey/world.ts';
import { handOf, seeds } from './seeds.ts';
import { dieAt, openTheatre, type Stage, setStage, stepsOf, type Theatre } from './stage.ts';

const scope = forSuite();
let theatre: Theatre;
/** Quarantines results with fewer rows. */
const job = { guards: { rows: { minimum: 20 } } };

beforeAll(async () => {
  theatre = await openTheatre(scope);
});

/** What the instance shows before a decision, and what is to be decided. */
interface Choice {
  readonly before: number;
  readonly about: number;
}

interface Decision {
  readonly args: readonly string[];
  /** Prepares the test up to the decision. */
  prepare(stage: Stage): Promise<Choice>;
  /** Called after an interrupted decision: repeats the decision if it had no effect, and checks the result. */
  settle(stage: Stage, choice: Choice): Promise<void>;
}

/** New rows, read and shown. */
async function deliver({ upstream, home, oracle }: Stage): Promise<number> {
  upstream.advance();
  expect(await oracle.ended(await home.syncHere())).toBe(upstream.version);
  return upstream.version;
}

/** New rows that aren't delivered; the source forgets them immediately. */
async function keepBack({ upstream, home, oracle }: Stage, state: string, rows?: number): Promise<number> {
  upstream.advance(rows === undefined ? {} : { rows });
  const ended = await home.syncHere();
  expect(ended.jobs).toMatchObject([{ state }]);
  await oracle.ended(ended);
  return upstream.version;
}

/** Repeats a decision that may have taken effect: either nothing is left to decide, or it takes effect now. */
async function again({ home }: Stage, args: readonly string[]): Promise<void> {
  const { code, stderr } = await home.sluice(args);
  if (code !== 0) expect(stderr).toContain('PAYLOAD_UNKNOWN');
}

/** Owed payloads are sent, even if the source no longer has their data. */
async function sendRest({ home, oracle }: Stage): Promise<number> {
  const ended = await home.syncHere();
  expect(ended).toMatchObject({ code: 1, jobs: [{ state: 'failed' }] });
  return oracle.ended(ended);
}

/** The rows that are already shown, or new rows if none are shown yet. */
async function showSomething(stage: Stage): Promise<number> {
  return stage.upstream.version === 0 ? deliver(stage) : stage.oracle.look();
}

const heldBack = async (stage: Stage): Promise<Choice> => ({
  before: await showSomething(stage),
  about: await keepBack(stage, 'quarantined', 8),
});

const decisions: Record<string, Decision> = {
  'an approval': {
    args: ['quarantine', 'approve', 'rows'],
    prepare: heldBack,
    async settle(stage, { about }) {
      await again(stage, this.args);
      expect(await sendRest(stage)).toBe(about);
    },
  },
  'a discard': {
    args: ['quarantine', 'discard', 'rows'],
    prepare: heldBack,
    async settle(stage, { before }) {
      await again(stage, this.args);
      expect(await sendRest(stage)).toBe(before);
      expect(stage.home.state().outbox.at(-1)).toMatchObject({ state: 'discarded' });
    },
  },
  'another try for a dead payload': {
    args: ['dead', 'send', 'rows'],
    async prepare(stage) {
      const before = await showSomething(stage);
      await stage.control.break(stage.instance, { first: 1, answer: { status: 422 } });
      return { before, about: await keepBack(stage, 'dead') };
    },
    async settle(stage, { about }) {
      await again(stage, this.args);
      expect(await sendRest(stage)).toBe(about);
    },
  },
  'a rollback': {
    args: ['rollback', 'rows'],
    async prepare(stage) {
      const about = stage.upstream.version || (await deliver(stage));
      return { about, before: await deliver(stage) };
    },
    async settle(stage, { about, before }) {
      const { home, oracle } = stage;
      oracle.wentBack(about);
      const isHeld = async () => (await home.syncHere()).jobs[0]!.state === 'on_hold';
      if (!(await isHeld())) {
        expect(await oracle.look()).toBe(before);
        oracle.wentBack(about);
        expect(await home.sluice(this.args)).toMatchObject({ code: 0 });
        expect(await isHeld()).toBe(true);
      }
      expect(await oracle.look()).toBe(about);
      expect(await home.sluice(['resume', 'rows'])).toMatchObject({ code: 0 });
    },
  },
};

/** The steps after the decision, without those of every start and every delivery. */
function ownSteps(steps: readonly string[]): string[] {
  const own = steps.slice(steps.indexOf('commit insert into audit #1'));
  return own.filter((step) => /audit|leases #1|^rm |^say (payload|request\.answered)/.test(step));
}

describe.each(Object.entries(decisions))('%s, killed before each of its own durable steps,', (_, decision) => {
  let steps: readonly string[];

  beforeAll(async () => {
    const stage = await setStage(theatre, { scope, job });
    await decision.prepare(stage);
    expect(await stage.home.sluice(decision.args, dieAt(stage, ''))).toMatchObject({ code: 0 });
    steps = ownSteps(await stepsOf(stage));
  });

  it.for(seeds)('takes full effect or none, and can be repeated (seed %i)', async (seed) => {
    const stage = await setStage(theatre, { job });
    stage.upstream.prunes = true;
    for (const step of handOf(seed, steps)) {
      const choice = await decision.prepare(stage);
      const killed: Ended = await stage.home.sluice(decision.args, dieAt(stage, step));
      expect(killed, step).toMatchObject({ signal: 'SIGKILL' });
      await decision.settle(stage, choice);
    }
    await stage.oracle.expectPaced();
  });
});
