import { existsSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { NewPayload } from '../../src/state/outbox/new-payload.ts';
import type { AttemptedPayload } from '../../src/state/outbox/outbox.ts';
import { recover } from '../../src/state/recover.ts';
import type { Store } from '../../src/state/store.ts';
import type { OutboxRow } from '../../src/state/tables.ts';
import { SteppingClock } from '../clocks.ts';
import fc, { runsOf } from '../property.ts';
import { stateFor } from '../state/engines.ts';
import { cleanUp, newFolder, newStore, place, spool } from '../state/fixtures.ts';
import { OutboxModel, type Piece } from './outbox-model.ts';

afterEach(cleanUp);

interface Real {
  store: Store;
  readonly clock: SteppingClock;
  sending: AttemptedPayload | undefined;
  reopen(): Promise<void>;
}

type Command = fc.AsyncCommand<OutboxModel, Real>;

const key = { url: place.url, instance: 'i' };
const by = { who: 'a person', why: '' };

/** A command with a description. After each command, the store and the model are compared. */
function command(
  words: string,
  can: (model: OutboxModel) => boolean,
  run: (model: OutboxModel, real: Real) => unknown,
) {
  return {
    check: can,
    run: async (model: OutboxModel, real: Real) => {
      await run(model, real);
      await compare(model, real);
    },
    toString: () => words,
  };
}

/** Whatever happens, nothing is lost, every state is as expected, and every file that may be needed is intact. */
async function compare(model: OutboxModel, { store }: Real): Promise<void> {
  for (const { id, state } of model.pieces)
    expect(await store.outbox.find(id), `payload ${id}`).toMatchObject({ state });
  expect(model.pieces.filter(({ state }) => state === 'owed').length).toBeLessThanOrEqual(1);
  for (const { path, text, lost } of model.waiting)
    if (lost === undefined) expect(await contents(store, path)).toBe(text);
  const receipt = await store.receipts.find(key);
  expect(receipt && [receipt.as_of, receipt.certain === 1, receipt.tried_as_of]).toEqual(
    model.belief && [model.belief.asOf, model.belief.certain, model.belief.tried],
  );
}

/** A payload's bytes, on any machine. */
async function contents(store: Store, path: string): Promise<string> {
  const here = resolve(store.folder, path);
  await store.blobs.ensureHere(here);
  return readFileSync(here, 'utf8');
}

/** A finished extract that hasn't been passed to the outbox. */
async function finish({ store }: Real, text: string, asOf: number): Promise<NewPayload> {
  const run = await store.runs.begin({ job: 'job', origin: 'schedule' });
  const payload = spool(store, { run, text, asOf });
  const to = { destination: place, instance: 'i', mediaType: 'text/csv', always: false };
  return { run, job: 'job', payload, ...to };
}

async function release({ store }: Real, rows: readonly { path: string }[]): Promise<void> {
  for (const { path } of rows) await store.payloads.release(resolve(store.folder, path));
}

function add(
  model: OutboxModel,
  { store }: Real,
  row: Pick<OutboxRow, 'id' | 'path'>,
  piece: Omit<Piece, 'id' | 'path'>,
): void {
  model.pieces.push({ ...piece, id: row.id, path: relative(store.folder, row.path) });
}

/** With `early`, checks what the instance shows before the payload is durable, as a run does. */
const commit = (text: string, age: number, early: boolean): Command =>
  command(`commit ${text}, ${age} old${early ? ', early' : ''}`, always, async (model, real) => {
    const asOf = real.clock.now() - age;
    const owing = await finish(real, text, asOf);
    const passed = early && (await real.store.outbox.settleIfShown(owing));
    const owed = passed ? { state: 'unchanged' as const, superseded: [] } : await real.store.outbox.enqueue(owing);
    const state = model.commit(text, asOf, real.clock.now());
    expect(owed.state).toBe(state);
    if (owed.state !== 'unchanged') {
      add(model, real, owed.row, { text, asOf, state: owed.state, putBack: false });
    }
    await release(real, owed.superseded);
    if (owed.state !== 'owed') await release(real, [owing.payload]);
  });

const quarantine = (text: string, age: number): Command =>
  command(`quarantine ${text}, ${age} old`, always, async (model, real) => {
    const asOf = real.clock.now() - age;
    const owing = await finish(real, text, asOf);
    const { id, superseded } = await real.store.quarantine.put(owing, { findings: '[]', message: 'few rows' });
    for (const piece of model.pieces) if (piece.state === 'quarantined') piece.state = 'superseded';
    add(model, real, { id, path: owing.payload.path }, { text, asOf, state: 'quarantined', putBack: false });
    await release(real, superseded);
  });

const begin = command(
  'begin to send',
  ({ owed, sending }) => owed !== undefined && sending === undefined,
  async (model, real) => {
    real.sending = await real.store.outbox.attempt(model.owed!.id);
    expect(real.sending).toBeDefined();
    model.begin(model.owed!, real.clock.now());
  },
);

type End = 'taken' | 'taken, no answer' | 'lost' | 'refused';

const end = (how: End): Command =>
  command(`it is ${how}`, isSending, async (model, real) => {
    const { store } = real;
    const [row, piece] = [real.sending!, model.sending!];
    if (how.startsWith('taken')) model.take();
    if (how === 'taken') {
      model.confirm(real.clock.now());
      await store.outbox.delivered(row);
      await store.payloads.releaseFormer(row);
    } else if (how === 'refused') {
      if (model.wasCertain) model.belief = { ...model.belief!, certain: true };
      if (piece.state === 'owed') piece.state = 'dead';
      piece.open = false;
      await store.outbox.refused(row);
      await store.outbox.markDead(row.id, { code: 'REFUSED', message: 'no', untaken: true });
    } else {
      const now = real.clock.now();
      model.giveUp({ taken: how !== 'lost', now });
      piece.unansweredAt = now;
      piece.open = false;
      piece.isAdrift = false;
      await store.outbox.postpone(row.id, { code: 'NO_ANSWER', message: 'none', waitMs: 5, free: false });
    }
    [real.sending, model.sending] = [undefined, undefined];
  });

/** A power failure, after which uploads in transit may or may not have been accepted. */
const crash = (taken: boolean): Command =>
  command(`crash, ${taken ? 'after' : 'before'} the service took it`, always, async (model, real) => {
    if (taken && model.sending !== undefined) model.take();
    if (model.sending !== undefined) model.giveUp({ taken, now: real.clock.now() });
    [real.sending, model.sending] = [undefined, undefined];
    await real.reopen();
  });

const decide = (what: 'approve' | 'discard'): Command =>
  command(
    what,
    ({ pieces }) => pieces.some(isHeld),
    async (model, real) => {
      const piece = model.pieces.find(isHeld)!;
      const isLate = what === 'approve' && model.isLate(piece);
      const decided = await real.store.quarantine[what](piece.id, by);
      expect(decided === undefined, `${what} comes too late`).toBe(isLate);
      if (isLate) return;
      if (what === 'approve') model.supersede(piece);
      piece.putBack = what === 'approve';
      piece.state = what === 'approve' ? 'owed' : 'discarded';
      await release(real, [...decided!.superseded, piece]);
    },
  );

const revive = command(
  'send a dead one again',
  ({ pieces }) => pieces.some(isDead),
  async (model, real) => {
    const piece = model.pieces.findLast(isDead)!;
    const isLate = model.isLate(piece);
    expect(await real.store.outbox.requeue(piece.id)).toBe(!isLate);
    if (isLate) return;
    piece.state = 'owed';
    piece.putBack = true;
  },
);

const rollback = command(
  'roll back',
  (model) => model.former() !== undefined,
  async (model, real) => {
    const piece = model.former()!;
    const [former] = await real.store.goodPayloads.former(key);
    expect(former).toMatchObject({ id: piece.id });
    const { row, superseded } = await real.store.goodPayloads.putBack(former!, { job: 'job', by });
    model.supersede();
    add(model, real, row, { ...piece, state: 'owed', putBack: true });
    await release(real, superseded);
  },
);

/** Resends the last delivered payload if that is due. */
const repeat = (how: 'taken' | 'taken, no answer' | 'lost' | 'cut off'): Command =>
  command(
    `resend: ${how}`,
    (model) => model.sending === undefined && model.owed === undefined,
    async (model, { store, clock }) => {
      const now = clock.now();
      const due = (await store.resends.all()).filter(({ dueAt }) => dueAt <= now);
      const piece = model.repeat(now);
      if (piece !== undefined && (piece.notBefore ?? 0) <= now) expect(due).toMatchObject([{ row: { id: piece.id } }]);
      else expect(due).toEqual([]);
      if (piece === undefined || due.length === 0) return;
      const row = (await store.resends.begin(due[0]!))!;
      if (how.startsWith('taken')) model.takeAgain(piece, now, how === 'taken');
      if (how !== 'taken') piece.unansweredAt = now;
      piece.isAdrift = how === 'cut off';
      if (how === 'lost') model.late.push({ text: piece.text, asOf: model.belief!.asOf, until: now + 600_000 });
      if (how === 'taken') {
        delete piece.notBefore;
        await store.resends.delivered(row);
      } else if (how !== 'cut off') {
        piece.notBefore = now + 600_000;
        await store.resends.postpone(row, { waitMs: 600_000, ambiguous: true });
      }
    },
  );

const arrive = command(
  'a request that was given up is carried out',
  ({ late, sending }) => late.length > 0 && sending === undefined,
  (model, { clock }) => model.arrive(clock.now()),
);

const sweep = command('sweep old files', always, async (model, { store }) => {
  for (const { path, lost } of model.waiting)
    if (lost === undefined) await contents(store, path).then(() => utimesSync(resolve(store.folder, path), 1, 1));
  await store.payloads.sweep();
});

const loseFile = command(
  'lose the file of an owed payload, restart',
  ({ owed }) => owed !== undefined,
  async (model, real) => {
    const piece = model.owed!;
    await real.store.blobs.drop(resolve(real.store.folder, piece.path));
    for (const other of model.pieces) if (other.path === piece.path) other.gone = true;
    piece.lost = true;
    if (piece.open) piece.unansweredAt = piece.triedAt!;
    piece.isAdrift = piece.open === true;
    piece.open = false;
    piece.state = 'dead';
    [real.sending, model.sending] = [undefined, undefined];
    await real.reopen();
    expect(await real.store.outbox.find(piece.id)).toMatchObject({ code: 'PAYLOAD_DAMAGED' });
  },
);

/** If several machines share the state, each has copies of the files, which may vanish. */
const loseCache = command('lose the cache', always, (_, { store }) => {
  if (store.blobs.areShared && existsSync(store.payloads.root)) rmSync(store.payloads.root, { recursive: true });
});

const tick = (milliseconds: number): Command =>
  command(`${milliseconds} ms pass`, always, (_, { clock }) => clock.advance(milliseconds));

function always(): boolean {
  return true;
}

function isSending({ sending }: OutboxModel): boolean {
  return sending !== undefined;
}

function isHeld({ state }: Piece): boolean {
  return state === 'quarantined';
}

function isDead({ state, lost }: Piece): boolean {
  return state === 'dead' && lost === undefined;
}

const text = fc.constantFrom('a', 'b', 'c');
const age = fc.nat(30);
const ends = fc.constantFrom<End>('taken', 'taken', 'taken, no answer', 'lost', 'refused');
const commands = [
  fc.tuple(text, age, fc.boolean()).map((given) => commit(...given)),
  fc.tuple(text, age).map(([text, age]) => quarantine(text, age)),
  fc.tuple(text, age).map(([text, age]) => quarantine(text, age)),
  fc.constant(begin),
  fc.constant(begin),
  ends.map(end),
  fc.boolean().map(crash),
  fc.constantFrom<'approve' | 'discard'>('approve', 'approve', 'discard').map(decide),
  fc.constantFrom(7, 11 * 60_000).map(tick),
  fc.constantFrom('taken' as const, 'taken, no answer' as const, 'lost' as const, 'cut off' as const).map(repeat),
  ...[revive, rollback, sweep, loseFile, loseCache, arrive].map((one) => fc.constant(one as Command)),
];

async function openReal(): Promise<Real> {
  const [clock, folder] = [new SteppingClock(), newFolder()];
  const keep = { payloads: 1000, milliseconds: Number.MAX_SAFE_INTEGER };
  // With a state on a server, the next process is on another machine.
  const folders = stateFor(folder).database === undefined ? [folder] : [folder, newFolder()];
  let opened = 0;
  const open = () => newStore({ clock, folder: folders[opened++ % folders.length]!, ...stateFor(folder), keep });
  const real: Real = {
    store: await open(),
    clock,
    sending: undefined,
    reopen: async () => {
      await real.store.close();
      // No process starts in the same millisecond as the previous one.
      clock.advance(1);
      real.store = await open();
      await recover(real.store);
    },
  };
  return real;
}

/** Nothing fails any more: owed payloads are sent, and the instance shows the newest. */
async function bringToRest(model: OutboxModel, real: Real): Promise<void> {
  if (model.sending !== undefined) await end('taken').run(model, real);
  const last = model.owed;
  if (last === undefined) return;
  await (begin as Command).run(model, real);
  await end('taken').run(model, real);
  expect(model.shown).toEqual({ text: last.text, asOf: last.asOf });
  expect(await real.store.outbox.inState('owed')).toEqual([]);
  await bringToRestLate(last, model, real);
}

/**
 * Everything that was given up is executed as late as possible, and the instance still shows what was delivered last.
 */
async function bringToRestLate(last: Piece, model: OutboxModel, real: Real): Promise<void> {
  while (model.late.length > 0) model.arrive(real.clock.now());
  for (let minutes = 0; minutes <= 30; minutes += 10) {
    real.clock.advance(600_001);
    await (repeat('taken') as Command).run(model, real);
  }
  expect(model.shown?.text).toBe(last.text);
  expect(await real.store.resends.all()).toEqual([]);
}

it('the outbox behaves like its model, no matter what users and the service do and when it crashes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 40, size: 'max' }), async (history) => {
      const real = await openReal();
      const model = new OutboxModel();
      await fc.asyncModelRun(() => ({ model, real }), history);
      await bringToRest(model, real);
      await cleanUp();
    }),
    { numRuns: runsOf(40) },
  );
});
