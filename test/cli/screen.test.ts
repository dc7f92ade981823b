import { describe, expect, it } from 'vitest';
import { bytesText, countOf, countText, durationText, instantText } from '../../src/cli/output/format.ts';
import { Progress } from '../../src/cli/output/progress.ts';
import { cellsOf, clip, renderTable } from '../../src/cli/output/table.ts';
import { followJobs } from '../../src/cli/sync/follow.ts';
import type { SluiceEvents } from '../../src/daemon/events.ts';
import { Events } from '../../src/lib/events.ts';

describe('a table', () => {
  it('aligns its columns even with wide names, and right-aligns numbers', () => {
    const text = renderTable(
      [{ title: 'job' }, { title: 'rows', align: 'right' }],
      [
        ['売上', '5'],
        ['orders', '1,000'],
      ],
    );
    expect(text).toBe('job      rows\n──────  ─────\n売上        5\norders  1,000');
  });

  it("isn't truncated on a terminal of unknown size", () => {
    const text = renderTable([{ title: 'job' }, { title: 'result' }], [['orders', 'delivered']], {
      paper: { isTTY: true, columns: 0 },
    });
    expect(text).toContain('orders  delivered');
  });

  it('shows control characters instead of executing them', () => {
    expect(renderTable([{ title: 'x' }], [['a\u001b[2Jb\nc']])).toContain('a␛[2Jb␊c');
  });

  it('truncates a long cell with an ellipsis', () => {
    expect(clip('abcdef', 4)).toBe('abc…');
    expect(cellsOf(clip('売上売上売上', 5))).toBeLessThanOrEqual(5);
  });
});

describe('numbers', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.00 kB'],
    [999_499, '999 kB'],
    [999_500, '1.00 MB'],
    [10_485_760, '10.5 MB'],
  ])('are shown with a unit: %d bytes as %s', (bytes, text) => expect(bytesText(bytes)).toBe(text));

  it('have thousands separators, and durations have units', () => {
    expect(countText(1_000_000)).toBe('1,000,000');
    expect([0, 1, 2000].map((count) => countOf(count, 'row'))).toEqual(['0 rows', '1 row', '2,000 rows']);
    expect([340, 12_400, 185_000, 7_800_000].map(durationText)).toEqual([
      '340 ms',
      '12.4 s',
      '3 min 05 s',
      '2 h 10 min',
    ]);
    expect(instantText(0)).toBe('1970-01-01 00:00:00Z');
  });
});

describe('progress', () => {
  function piped(isTTY: boolean): { progress: Progress; text: () => string } {
    let text = '';
    const screen = { isTTY, columns: 60, write: (piece: string) => (text += piece) };
    return { progress: new Progress(screen, () => 2000), text: () => text };
  }

  it('shows every job on a terminal of unknown size', () => {
    let text = '';
    const screen = { isTTY: true, columns: 0, rows: 0, write: (piece: string) => (text += piece) };
    const progress = new Progress(screen, () => 2000);
    for (const job of ['orders', 'stock', 'visits']) progress.refresh(job, { state: 'reading', startedAt: 1000 });
    progress.stop();
    expect(['orders', 'stock', 'visits'].filter((job) => !text.includes(job))).toEqual([]);
  });

  it('prints only state changes, as plain lines, if the output is piped', () => {
    const { progress, text } = piped(false);
    progress.refresh('orders', { state: 'reading', startedAt: 1000 });
    progress.refresh('orders', { rows: 500, bytes: 2000 });
    progress.refresh('orders', { state: 'delivered' });
    progress.stop();
    expect(text()).toBe(
      'orders                reading\norders                delivered          500 rows, 2.00 kB, 500 rows/s, 1.0 s\n',
    );
  });

  it("shows the source's row count until the payload is encoded, then the payload's", () => {
    let text = '';
    const events = new Events<SluiceEvents>();
    const screen = { isTTY: false, columns: 60, write: (piece: string) => (text += piece) };
    const { stop } = followJobs(events, { screen, jobs: [{ name: 'open' }] });
    events.emit('run.started', { job: 'open', run: 'r1', origin: 'person' });
    events.emit('extract.progressed', { job: 'open', run: 'r1', rows: 50, bytes: 4000 });
    const facts = {
      id: 1,
      job: 'open',
      run: 'r1',
      destination: 'main',
      instance: 'i',
      sha256: 'f00d',
      bytes: 900,
      rows: 17,
    };
    events.emit('payload.owed', facts);
    stop();
    expect(text).toMatch(/ready to send +17 rows, 900 B/);
  });

  it('redraws its own lines on a terminal and never exceeds its width', () => {
    const { progress, text } = piped(true);
    progress.refresh('a job with a name that is longer than the terminal is wide, really', { state: 'reading' });
    progress.stop();
    const [before, line, after] = text().split(/(?<=\[2K)|(?=\n)/);
    expect([before, after]).toEqual(['\r\u001b[2K', '\n']);
    expect(cellsOf(line ?? '')).toBeLessThanOrEqual(59);
  });
});
