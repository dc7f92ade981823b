import { describe, expect, it } from 'vitest';
import { advance } from '../../src/alerts/advance.ts';
import { failing, hour, minute, remindMs, settleMs, Told } from './world.ts';

const names = (mentions: readonly { subject: string }[] = []) => mentions.map(({ subject }) => subject);

describe('the alert state machine', () => {
  it('waits for more alerts with the same cause, then reports all of them once, in one message', () => {
    const told = new Told();
    expect(told.look(failing('a'))).toEqual([]);
    expect(told.dueAt).toBe(told.now + settleMs);
    expect(told.after(10_000, failing('a'), failing('b'))).toEqual([]);
    const [bulletin, ...rest] = told.after(20_000, failing('a'), failing('b'), failing('c'));
    expect(rest).toEqual([]);
    expect(bulletin).toMatchObject({ kind: 'opened', occasion: 'failed', to: ['ops'] });
    expect(names(bulletin?.fresh)).toEqual(['job:a', 'job:b', 'job:c']);
    expect(told.look(failing('a'), failing('b'), failing('c'))).toEqual([]);
  });

  it('sends one message for a thousand jobs that fail together', () => {
    const told = new Told();
    const all = Array.from({ length: 1000 }, (_, i) => failing(`job${i}`));
    told.look(...all);
    const bulletins = told.after(settleMs, ...all);
    expect(bulletins).toHaveLength(1);
    expect(bulletins[0]?.fresh).toHaveLength(1000);
    expect(told.after(hour, ...all)).toEqual([]);
  });

  it('sends separate messages for different causes, recipients or reminder intervals', () => {
    const told = new Told();
    const all = [
      failing('a'),
      failing('b', { cause: 'another' }),
      failing('c', { to: ['chat'] }),
      failing('d', { remindMs: hour }),
      failing('e', { occasion: 'stale' }),
    ];
    told.look(...all);
    expect(told.after(settleMs, ...all)).toHaveLength(5);
  });

  it('reports an escalation only once, even if the level drops and rises again', () => {
    const told = new Told();
    told.look(failing('a'));
    told.after(settleMs, failing('a'));
    told.after(hour, failing('a', { level: 2 }));
    const [worse] = told.after(settleMs, failing('a', { level: 2 }));
    expect(worse).toMatchObject({ kind: 'worse' });
    told.after(minute, failing('a'));
    told.after(hour, failing('a', { level: 2 }));
    expect(told.after(settleMs, failing('a', { level: 2 }))).toEqual([]);
  });

  it('reports a recovery once and lists the alerts that are still open', () => {
    const told = new Told();
    told.look(failing('a'), failing('b'));
    told.after(settleMs, failing('a'), failing('b'));
    told.after(hour, failing('b'));
    const [over] = told.after(settleMs, failing('b'));
    expect(over).toMatchObject({ kind: 'recovered' });
    expect([names(over?.recovered), names(over?.open)]).toEqual([['job:a'], ['job:b']]);
    expect(told.after(4 * hour, failing('b'))).toEqual([]);
    told.after(hour);
    expect(told.after(settleMs)[0]).toMatchObject({ kind: 'recovered', open: [] });
    expect(told.rows).toEqual([]);
  });

  it("doesn't report an alert that ended before its first message was due", () => {
    const told = new Told();
    told.look(failing('a'));
    expect(told.after(10_000)).toEqual([]);
    expect(told.after(hour)).toEqual([]);
    expect(told.rows).toEqual([]);
  });

  it("doesn't report a recovery that didn't last", () => {
    const told = new Told();
    told.look(failing('a'));
    told.after(settleMs, failing('a'));
    told.after(hour);
    told.after(10_000, failing('a'));
    expect(told.after(hour, failing('a'))).toEqual([]);
    expect(told.log).toHaveLength(1);
  });

  it('sends only a few messages for a job that fails and recovers all day, and reacts quickly again after a calm period', () => {
    const told = new Told();
    for (let n = 0; n < 24 * 60; n++) told.after(minute, ...(n % 10 < 5 ? [failing('a')] : []));
    expect(told.log.length).toBeLessThan(11);
    expect(told.log.length).toBeGreaterThan(3);
    for (let n = 0; n < 60; n++) told.after(hour);
    expect(told.log.at(-1)?.bulletin.open).toEqual([]);
    const before = told.log.length;
    told.after(minute, failing('a'));
    told.after(settleMs, failing('a'));
    expect(told.log.length).toBe(before + 1);
  });

  it('reports the first recovery and the last one immediately, and those in between after a pause', () => {
    const told = new Told();
    const [b, c] = [failing('b'), failing('c')];
    told.look(failing('a'), b, c);
    told.after(settleMs, failing('a'), b, c);
    told.after(minute, b, c);
    const [partly] = told.after(settleMs, b, c);
    expect([partly?.kind, names(partly?.recovered), names(partly?.open)]).toEqual([
      'recovered',
      ['job:a'],
      ['job:b', 'job:c'],
    ]);
    // If a thousand jobs recover one by one, each recovery would cause a message.
    told.after(minute, c);
    expect(told.after(settleMs, c)).toEqual([]);
    const [last] = told.after(minute);
    expect([names(last?.recovered).sort(), names(last?.open)]).toEqual([['job:b', 'job:c'], []]);
  });

  it('reports the only recovery immediately, even if the alert escalated', () => {
    const told = new Told();
    told.look(failing('a'));
    told.after(settleMs, failing('a'));
    told.after(10 * minute, failing('a', { level: 2 }));
    expect(told.after(settleMs, failing('a', { level: 2 }))[0]).toMatchObject({ kind: 'worse' });
    told.after(minute);
    expect(told.after(settleMs)[0]).toMatchObject({ kind: 'recovered', open: [] });
  });

  it('reports the last recovery after a pause if another alert joined the group in the meantime', () => {
    const told = new Told();
    told.look(failing('a'));
    told.after(settleMs, failing('a'));
    told.after(10 * minute, failing('a'), failing('b'));
    expect(told.after(settleMs, failing('a'), failing('b'))[0]).toMatchObject({ kind: 'opened' });
    told.after(minute);
    expect(told.after(settleMs)).toEqual([]);
    expect(told.after(30 * minute)[0]).toMatchObject({ kind: 'recovered', open: [] });
  });

  it('reports a recurring alert only after a pause, and its second recovery after a longer pause', () => {
    const told = new Told();
    told.look(failing('a'));
    told.after(settleMs, failing('a'));
    told.after(minute);
    expect(told.after(settleMs)).toHaveLength(1);
    expect(told.after(minute, failing('a'))).toEqual([]);
    expect(told.after(8 * minute, failing('a'))).toEqual([]);
    expect(told.after(2 * minute, failing('a'))[0]).toMatchObject({ kind: 'opened' });
    told.after(minute);
    expect(told.after(20 * minute)).toEqual([]);
    expect(told.after(10 * minute)[0]).toMatchObject({ kind: 'recovered' });
  });

  it('sends a reminder of all open alerts after the configured time', () => {
    const told = new Told();
    told.look(failing('a'), failing('b'));
    told.after(settleMs, failing('a'), failing('b'));
    expect(told.after(remindMs - 1, failing('a'), failing('b'))).toEqual([]);
    const [reminder] = told.after(1, failing('a'), failing('b'));
    expect(reminder).toMatchObject({ kind: 'reminder' });
    expect(names(reminder?.open)).toEqual(['job:a', 'job:b']);
    expect(told.after(hour, failing('a'), failing('b'))).toEqual([]);
  });

  it("doesn't send a reminder immediately if a reported alert's recipients or interval change", () => {
    const told = new Told();
    told.look(failing('a'));
    told.after(settleMs, failing('a'));
    const moved = failing('a', { to: ['chat'], remindMs: hour });
    expect(told.after(minute, moved)).toEqual([]);
    expect(told.after(hour, moved)[0]).toMatchObject({ kind: 'reminder', to: ['chat'] });
  });

  it("doesn't send alerts about muted or unknown subjects", () => {
    const told = new Told();
    told.look(failing('a'), failing('b'));
    told.after(settleMs, failing('a'), failing('b'));
    told.standing = ({ subject }) => (subject === 'job:a' ? 'muted' : 'unknown');
    told.after(hour);
    expect(told.after(hour)).toEqual([]);
    expect(names(told.rows)).toEqual(['job:b']);
    expect(told.after(31 * 24 * hour)).toEqual([]);
    expect(told.rows).toEqual([]);
  });

  it("deletes an unknown subject's alert a month after it was last seen, no matter how long it lasted", () => {
    const told = new Told();
    const day = 24 * hour;
    told.look(failing('a'));
    for (let n = 0; n < 40; n++) told.after(day + minute, failing('a'));
    told.standing = () => 'unknown';
    told.after(29 * day);
    expect(names(told.rows)).toEqual(['job:a']);
    told.after(2 * day);
    expect(told.rows).toEqual([]);
  });

  it("keeps an ongoing alert's original cause and start time, but updates its message and code on each check", () => {
    const told = new Told();
    told.look(failing('a', { since: 2000, what: 'refused', code: 'A' }));
    told.after(settleMs, failing('a', { since: 2000, what: 'refused', code: 'A' }));
    told.after(hour, failing('a', { since: 1000, what: 'timed out', cause: 'another', level: 2 }));
    const [worse] = told.after(settleMs, failing('a', { since: 3000, what: 'timed out', cause: 'another', level: 2 }));
    expect(worse).toMatchObject({ kind: 'worse', fresh: [{ since: 1000, what: 'timed out', code: null, level: 2 }] });
    expect(told.groups).toHaveLength(1);
  });

  it('reports an escalation only if all its alerts were already reported at a lower level', () => {
    const told = new Told();
    told.look(failing('a'));
    told.after(settleMs, failing('a'));
    told.after(hour, failing('a', { level: 2 }), failing('b'));
    const [both] = told.after(settleMs, failing('a', { level: 2 }), failing('b'));
    expect(both).toMatchObject({ kind: 'opened' });
    expect(names(both?.fresh)).toEqual(['job:a', 'job:b']);
  });

  it("pauses 10, 30 and 90 minutes, then always 4 hours, between a group's messages", () => {
    const told = new Told();
    const failingNow: string[] = [];
    const pauses: number[] = [];
    let last = told.now;
    for (let n = 0; n < 14 * 12; n++) {
      failingNow.push(`job${n}`);
      if (told.after(5 * minute, ...failingNow.map((job) => failing(job))).length === 0) continue;
      pauses.push((told.now - last) / minute);
      last = told.now;
    }
    expect(pauses.slice(1, 6)).toEqual([10, 30, 90, 240, 240]);
  });

  it("returns the earliest time at which a group's message is due, or nothing if no group is waiting", () => {
    const told = new Told();
    expect(told.look()).toEqual([]);
    expect(told.dueAt).toBeUndefined();
    told.look(failing('a'));
    const first = told.now + settleMs;
    told.after(1000, failing('a'), failing('b', { cause: 'another' }));
    expect(told.dueAt).toBe(first);
    told.after(settleMs, failing('a'), failing('b', { cause: 'another' }));
    const reminded = told.now + remindMs;
    told.look(failing('a'), failing('b', { cause: 'another' }));
    expect(told.dueAt).toBe(reminded);
  });

  it('deletes a group when it has no alerts and has been calm for four hours', () => {
    const told = new Told();
    told.look(failing('a', { remindMs: hour }));
    told.after(settleMs, failing('a', { remindMs: hour }));
    told.standing = () => 'muted';
    told.after(4 * hour - 1);
    expect([told.rows.length, told.groups.length]).toEqual([0, 1]);
    told.after(1);
    expect(told.groups).toEqual([]);
  });

  it('deletes an alert silently if recovery messages are off', () => {
    const told = new Told();
    told.recovery = false;
    told.look(failing('a'));
    told.after(settleMs, failing('a'));
    told.after(hour);
    expect(told.after(hour)).toEqual([]);
    expect(told.rows).toEqual([]);
  });

  it("doesn't delay a recovery message if the clock was a year ahead and is set back", () => {
    const told = new Told();
    told.now += 365 * 24 * hour;
    told.look(failing('a'));
    told.after(settleMs, failing('a'));
    told.now -= 365 * 24 * hour;
    told.look();
    told.after(hour);
    expect(told.log.at(-1)?.bulletin).toMatchObject({ kind: 'recovered' });
  });

  const year = 365 * 24 * hour;

  it('reports alerts on time even if they started or ended while the clock was ahead', () => {
    const told = new Told();
    told.now += year;
    told.look(failing('a'));
    told.now -= year;
    told.look(failing('a'));
    expect(told.after(settleMs, failing('a'))).toMatchObject([{ kind: 'opened' }]);
    told.now += year;
    told.look();
    told.now -= year;
    told.look();
    expect(told.rows).toMatchObject([{ cleared_at: told.now }]);
    expect(told.after(settleMs + hour)).toMatchObject([{ kind: 'recovered' }]);
  });

  it('forgets alerts on time even if they were last seen while the clock was ahead', () => {
    const told = new Told();
    told.now += year;
    told.look(failing('a'));
    told.now -= year;
    told.standing = () => 'unknown';
    told.look();
    told.after(31 * 24 * hour);
    expect(told.rows).toEqual([]);
  });

  it('holds back alerts and reminders about unknown subjects, and sends them once the subjects are known again', () => {
    const told = new Told();
    told.look(failing('a'), failing('b', { cause: 'another' }));
    told.after(settleMs, failing('a'), failing('b', { cause: 'another' }));
    told.look(failing('a', { level: 2 }), failing('b', { cause: 'another' }));
    const judged = told.standing;
    told.standing = () => 'unknown';
    told.after(hour);
    told.after(26 * hour);
    expect(told.log).toHaveLength(2);
    expect(told.groups).toHaveLength(2);
    told.standing = judged;
    const bulletins = told.look(failing('a', { level: 2 }), failing('b', { cause: 'another' }));
    expect(bulletins.map(({ kind, open }) => [kind, ...names(open)]).sort()).toEqual([
      ['reminder', 'job:b'],
      ['worse', 'job:a'],
    ]);
  });

  it('pauses for ten minutes after a reminder, no matter how long the previous pause was', () => {
    const told = new Told();
    const pace = { remindMs: 5 * hour };
    told.look(failing('a', pace));
    told.after(settleMs, failing('a', pace));
    for (const [wait, job] of [
      [10 * minute, 'b'],
      [30 * minute, 'c'],
      [90 * minute, 'd'],
    ] as const) {
      told.look(failing('a', pace), failing(job, pace));
      told.after(wait, failing('a', pace), failing(job, pace));
    }
    told.look(failing('a', pace));
    told.after(24 * hour, failing('a', pace));
    while (told.log.at(-1)?.bulletin.kind !== 'reminder') told.after(hour, failing('a', pace));
    told.look(failing('a', { ...pace, level: 2 }));
    expect(told.after(10 * minute - 1, failing('a', { ...pace, level: 2 }))).toEqual([]);
    expect(told.after(1, failing('a', { ...pace, level: 2 }))).toMatchObject([{ kind: 'worse' }]);
  });

  it('saves an alert when it changes, and an unchanged alert only once a day', () => {
    const told = new Told();
    told.look(failing('a'));
    told.after(settleMs, failing('a'));
    const put = (ahead: number, what: Parameters<typeof failing>[1] = {}) => {
      const { now, rows, groups, recovery, standing } = told;
      const conditions = [failing('a', what)];
      return advance({ now: now + ahead, settleMs, recovery, conditions, standing, rows, groups }).put;
    };
    expect(put(hour)).toEqual([]);
    expect(put(hour, { what: 'timed out' })).toMatchObject([{ what: 'timed out' }]);
    const seen = told.rows[0]!.seen_at;
    expect(put(seen + 24 * hour - told.now)).toEqual([]);
    expect(put(seen + 24 * hour + 1 - told.now)).toMatchObject([{ seen_at: seen + 24 * hour + 1 }]);
  });
});
