import { afterEach, describe, expect, it } from 'vitest';
import type { Bulletin, Detail, Mention } from '../../src/alerts/alert.ts';
import { composeBulletin, composeTest, toDescribe } from '../../src/alerts/compose.ts';
import { forgetSecrets, registerSecret } from '../../src/lib/redact.ts';

afterEach(forgetSecrets);

const now = Date.UTC(2026, 10, 21, 8, 4, 12);
const hour = 3_600_000;

function mention(job: string, more: Partial<Mention> = {}): Mention {
  return { subject: `job:${job}`, level: 1, since: now - hour, what: 'connection refused', code: 'DB_DOWN', ...more };
}

function bulletin(more: Partial<Bulletin>): Bulletin {
  return { occasion: 'failed', kind: 'opened', to: ['ops'], fresh: [], open: [], recovered: [], ...more };
}

const compose = (given: Partial<Bulletin>, detailOf: (subject: string) => Detail | undefined = () => undefined) =>
  composeBulletin(bulletin(given), { now, file: '/etc/sluice.yaml', detailOf });

describe('an alert message', () => {
  it('never contains a secret in any field', () => {
    const secret = 'xoxb-1234567890-abcdef';
    registerSecret(secret);
    const open = [mention(secret, { what: `refused ${secret}`, code: secret }), mention('b')];
    const detail: Detail = { next: { message: `asks again with ${secret}` }, fix: `sluice login ${secret}` };
    const told = [
      compose({ fresh: open, open }, () => detail),
      compose({ kind: 'recovered', recovered: open }),
      composeTest({ now, file: `/etc/${secret}.yaml` }),
    ];
    for (const event of told) {
      expect(JSON.stringify(event)).not.toContain('1234567890');
      expect(event.data.text).toContain('[redacted]');
    }
  });

  it("contains its time, the config's path and a unique ID", () => {
    const [a, b] = [compose({ fresh: [mention('a')], open: [mention('a')] }), composeTest({ now, file: '/f' })];
    expect(a).toMatchObject({ type: 'alert.opened', timestamp: '2026-11-21T08:04:12.000Z' });
    expect(a.data).toMatchObject({ config: '/etc/sluice.yaml', occasion: 'failed', open: 1 });
    expect(b).toMatchObject({ type: 'alert.test', data: { open: 0, alerts: [], recovered: [] } });
    expect(a.data.id).toMatch(/^msg_[0-9a-f]{24}$/);
    expect(b.data.id).not.toBe(a.data.id);
  });

  it.each<[string, Partial<Bulletin>, string]>([
    ['a new alert', { fresh: [mention('a')], open: [mention('a')] }, 'a failed'],
    [
      'several new alerts',
      { fresh: [mention('a'), mention('b')], open: [mention('a'), mention('b')] },
      '2 jobs failed',
    ],
    [
      'a new alert next to others',
      { fresh: [mention('c')], open: [mention('a'), mention('b'), mention('c')] },
      'c failed, 2 more open',
    ],
    [
      'an escalation',
      { kind: 'worse', fresh: [mention('a', { level: 2 })], open: [mention('a', { level: 2 })] },
      'a keeps failing',
    ],
    ['a reminder', { kind: 'reminder', open: [mention('a'), mention('b')] }, 'still: 2 jobs failed'],
    ['a recovery', { kind: 'recovered', recovered: [mention('a')] }, 'a recovered'],
    [
      'a partial recovery',
      { kind: 'recovered', recovered: [mention('a')], open: [mention('b'), mention('c')] },
      'a recovered, 2 still open',
    ],
  ])('has a title for %s', (_, given, title) => {
    const { data } = compose(given);
    expect(data.title).toBe(title);
    expect(data.text.split('\n')[0]).toBe(`Sluice: ${title}`);
  });

  it('names at most ten subjects, new ones first, and says how many more there are', () => {
    const old = Array.from({ length: 11 }, (_, i) => mention(`old${i}`));
    const fresh = [mention('new')];
    const { data } = compose({ fresh, open: [...old, ...fresh], recovered: old });
    expect(data.alerts.map(({ job }) => job)).toEqual(['new', ...old.slice(0, 9).map((_, i) => `old${i}`)]);
    expect(data.recovered).toHaveLength(10);
    expect(data.open).toBe(12);
    const lines = data.text.split('\n');
    expect(lines.filter((line) => line.startsWith('- ')).map((line) => line.split(':')[0])).toEqual([
      '- new',
      ...Array.from({ length: 9 }, (_, i) => `- old${i}`),
      '- and 2 more',
    ]);
    expect(data.text).toMatch(/^over: old0, .*, old9 and 1 more$/m);
  });

  it('describes a single alert in full: the problem, its start, what is shown, what comes next and the fix', () => {
    const detail: Detail = {
      shows_as_of: now - 2 * hour,
      in_doubt: true,
      next: { at: now + hour, message: 'the next run' },
      fix: 'sluice sync a',
    };
    const { data } = compose({ fresh: [mention('a')], open: [mention('a')] }, () => detail);
    expect(data.text).toMatch(/^what +connection refused \[DB_DOWN\]$/m);
    expect(data.text).toMatch(/^since +2026-11-21 07:04:12Z, .* ago$/m);
    expect(data.text).toMatch(/^dashboard shows data as of 2026-11-21 06:04:12Z, .* old, possibly newer: /m);
    expect(data.text).toMatch(/^next +the next run, 2026-11-21 09:04:12Z$/m);
    expect(data.text).toMatch(/^fix +sluice sync a/m);
    expect(data.alerts).toEqual([
      {
        job: 'a',
        level: 1,
        since: '2026-11-21T07:04:12.000Z',
        what: 'connection refused',
        code: 'DB_DOWN',
        shows_as_of: '2026-11-21T06:04:12.000Z',
        in_doubt: true,
        next: 'the next run',
        next_at: '2026-11-21T09:04:12.000Z',
        fix: expect.stringContaining('sluice sync a'),
      },
    ]);
  });

  it('describes a subject that has no name', () => {
    const { data } = compose({ occasion: 'disk', fresh: [mention('', { subject: 'disk', code: null })] });
    expect(data.alerts[0]).toMatchObject({ subject: 'disk' });
    expect(data.alerts[0]).not.toHaveProperty('code');
  });
});

it('a message describes one alert in detail: the first new one, or else an open one, or else a recovered one', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((job) => mention(job)) as [Mention, Mention, Mention];
  expect(toDescribe(bulletin({ fresh: [a], open: [b, a], recovered: [c] }))).toEqual(['job:a']);
  expect(toDescribe(bulletin({ open: [b], recovered: [c] }))).toEqual(['job:b']);
  expect(toDescribe(bulletin({ recovered: [c] }))).toEqual(['job:c']);
  expect(toDescribe(bulletin({}))).toEqual([]);
});
