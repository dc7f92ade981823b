import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { humanLog } from '../../src/cli/output/human-log.ts';
import { paint, toneOf } from '../../src/cli/output/paint.ts';
import { Progress } from '../../src/cli/output/progress.ts';
import { cellsOf, renderTable } from '../../src/cli/output/table.ts';
import { forgetSecrets, registerSecret } from '../../src/lib/redact.ts';

const esc = '\u001b';
const codes = new RegExp(`${esc}\\[(\\d+)A|(\\r?${esc}\\[2K)|(${esc}\\[J)|(\\n)|([^${esc}\\r\\n]+)`, 'g');
const colours = new RegExp(`${esc}\\[\\d+m`, 'g');

/** A terminal that supports the few control codes that we use and remembers every line that scrolled away. */
class Terminal {
  readonly isTTY = true;
  readonly columns = 60;
  readonly rows: number;
  lines: string[] = [''];
  scrolled = 0;
  #row = 0;

  constructor(rows: number) {
    this.rows = rows;
  }

  hasColors = () => false;

  write(text: string): void {
    for (const [, up, clear, below, newline, plain] of text.matchAll(codes)) {
      if (up !== undefined) this.#row = Math.max(0, this.#row - Number(up));
      if (clear !== undefined) this.lines[this.#row] = '';
      if (below !== undefined) this.lines = [...this.lines.slice(0, this.#row), ''];
      if (plain !== undefined) this.lines[this.#row] += plain;
      if (newline !== undefined) this.#down();
    }
  }

  #down(): void {
    this.#row++;
    if (this.lines.length === this.#row) this.lines.push('');
    if (this.#row < this.rows) return;
    this.lines.shift();
    this.#row--;
    this.scrolled++;
  }
}

describe('progress on a terminal', () => {
  it('shows every job that fits, including queued ones', () => {
    const terminal = new Terminal(24);
    const progress = new Progress(terminal, () => 0);
    progress.expect(['a', 'b']);
    progress.refresh('a', { state: 'reading', startedAt: 0 });
    progress.stop();
    expect(terminal.lines).toEqual(['a                     reading', 'b                     queued', '']);
  });

  it("shows the active jobs and counts the rest if there are more jobs than lines, so that it doesn't scroll", () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const terminal = new Terminal(24);
    const progress = new Progress(terminal, () => 0);
    const names = Array.from({ length: 50 }, (_, i) => `job-${i}`);
    progress.expect(names);
    for (const name of names.slice(0, 40)) progress.refresh(name, { state: 'reading', startedAt: 0 });
    vi.advanceTimersByTime(250);
    for (const name of names.slice(0, 36)) progress.refresh(name, { state: 'delivered', endedAt: 0 });
    vi.advanceTimersByTime(250);
    progress.stop();
    expect(terminal.scrolled).toBe(0);
    expect(terminal.lines.map((line) => line.split(' ')[0])).toEqual([
      'job-36',
      'job-37',
      'job-38',
      'job-39',
      '36',
      '',
    ]);
    expect(terminal.lines[4]).toBe('36 of 50 jobs finished, 10 more to come');
  });
});

describe('colors', () => {
  const colourful = { isTTY: true, hasColors: () => true };

  it('are used only on a terminal that supports them', () => {
    expect(paint('failed', 'bad', colourful)).toBe('\u001b[31mfailed\u001b[0m');
    for (const plain of [{ isTTY: true, hasColors: () => false }, { hasColors: () => true }, undefined]) {
      expect(paint('failed', 'bad', plain)).toBe('failed');
    }
  });

  it.each([
    ['delivered', 'good'],
    ['unchanged', 'good'],
    ['failed: EMPTY_REFUSED', 'bad'],
    ['dead', 'bad'],
    ['owed: the destination rejects the credentials', 'bad'],
    ['owed: waiting for the daily quota until 2026-11-22', 'waiting'],
    ['waiting to retry', 'waiting'],
    ['sending, try 2', 'waiting'],
    ['reading', undefined],
  ])('show %s as %s', (state, tone) => expect(toneOf(state)).toBe(tone));

  it("don't shift a table's columns", () => {
    const table = (paper: object) =>
      renderTable(
        [{ title: 'state', tone: toneOf }, { title: 'x' }],
        [
          ['failed', '1'],
          ['delivered', '2'],
        ],
        { paper },
      );
    const coloured = table({ ...colourful, columns: 80 });
    expect(coloured).toContain('\u001b[31m');
    expect(coloured.replace(colours, '')).toBe(table({}));
  });
});

describe('a table on a narrow terminal', () => {
  const rows = [['orders', 'x'.repeat(50), 'y'.repeat(30)]];
  const columns = [{ title: 'job' }, { title: 'state' }, { title: 'last problem' }];

  it('shrinks the widest columns so that every line fits', () => {
    const text = renderTable(columns, rows, { paper: { isTTY: true, columns: 50 } });
    expect(text.split('\n').map(cellsOf)).toEqual([50, 50, 50]);
    expect(text).toContain('orders');
  });

  it("isn't shrunk if the output is piped", () => {
    expect(renderTable(columns, rows, { paper: { columns: 50 } })).toContain('y'.repeat(30));
  });
});

describe('the log on a terminal', () => {
  function open(level: 'debug' | 'warn') {
    let text = '';
    const screen = { isTTY: true, hasColors: () => false, write: (piece: string) => (text += piece) };
    return { log: humanLog(screen, level, () => Date.UTC(2026, 10, 21, 3, 4, 5)), text: () => text };
  }

  it('shows the time, level, message and fields in a readable form', () => {
    const { log, text } = open('debug');
    log.with({ job: 'orders' }).info('payload.delivered', { bytes: 1_460_000, milliseconds: 340, until: 0 });
    expect(text()).toBe(
      '03:04:05Z info  payload.delivered  job=orders bytes=1.46MB milliseconds=340ms until=1970-01-01T00:00:00Z\n',
    );
  });

  it('indents multi-line values below the line, and quotes values with spaces', () => {
    const { log, text } = open('debug');
    log.error('config.error', { place: 'a b', message: 'one\ntwo' });
    expect(text()).toBe('03:04:05Z error config.error       place="a b"\n    one\n    two\n');
  });

  it('omits lines below its level, and redacts secrets', () => {
    registerSecret('hunter2-hunter2');
    const { log, text } = open('warn');
    log.info('quiet');
    log.warn('loud', { said: 'the key hunter2-hunter2 is wrong' });
    forgetSecrets();
    expect(text()).toBe('03:04:05Z warn  loud               said="the key [redacted] is wrong"\n');
  });

  it('escapes control characters', () => {
    const { log, text } = open('debug');
    log.warn('odd', { name: '\u001b[2Jx', long: 'a\n\u001b[2Jb' });
    expect(text()).not.toContain('\u001b');
  });
});
