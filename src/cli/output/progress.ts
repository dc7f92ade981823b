import { bytesText, countOf, countText, durationText } from './format.ts';
import { type Canvas, paint, toneOf } from './paint.ts';
import { cellsOf, clip, printable } from './table.ts';

/** The progress information shown for one job. */
export interface JobView {
  readonly job: string;
  /** A short label: queued, reading, sending, delivered, unchanged, failed … */
  state: string;
  rows: number;
  bytes: number;
  startedAt?: number;
  endedAt?: number;
}

/** The screen that progress is drawn on. A subset of Node's TTY stream. */
export interface Screen extends Canvas {
  /** Both are 0 if the terminal's size is unknown, for example in a container or under `script`. */
  readonly columns?: number;
  readonly rows?: number;
  /** True while earlier output is still buffered. Drawing now would only make the buffer grow. */
  readonly writableNeedDrain?: boolean;
  write(text: string): unknown;
}

const redrawMs = 100;
const nameCells = 20;
const stateCells = 17;

/**
 * On a terminal, draws one line per job in place. On a pipe, prints one plain line whenever a job's state changes. If
 * the terminal has fewer lines than there are jobs, shows the active jobs and a count of the others. Calling `refresh`
 * is cheap enough for every event.
 */
export class Progress {
  readonly #screen: Screen;
  readonly #now: () => number;
  readonly #views = new Map<string, JobView>();
  #drawn = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(screen: Screen, now: () => number = Date.now) {
    this.#screen = screen;
    this.#now = now;
  }

  /** Adds upcoming jobs. A terminal shows them as queued. */
  expect(jobs: Iterable<string>): void {
    if (this.#screen.isTTY !== true) return;
    for (const job of jobs) if (!this.#views.has(job)) this.#views.set(job, inLine(job));
  }

  /**
   * Updates a job's progress. Shows a new state immediately on a pipe, and within a tenth of a second on a terminal.
   */
  refresh(job: string, news: Partial<Omit<JobView, 'job'>>): void {
    const view = this.#views.get(job) ?? inLine(job);
    const turned = news.state !== undefined && news.state !== view.state;
    Object.assign(view, news);
    this.#views.set(job, view);
    if (this.#screen.isTTY !== true) {
      if (turned) this.#screen.write(`${this.#textOf(view)}\n`);
      return;
    }
    this.#timer ??= setInterval(() => this.#screen.writableNeedDrain || this.#draw(), redrawMs).unref();
  }

  /** Draws the final state and stops using the terminal. */
  stop(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#draw();
    this.#drawn = 0;
  }

  #draw(): void {
    const up = this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A`;
    const lines = this.#lines();
    const surplus = lines.length < this.#drawn ? '\u001b[J' : '';
    this.#screen.write(up + lines.map((line) => `\r\u001b[2K${line}\n`).join('') + surplus);
    this.#drawn = lines.length;
  }

  /**
   * Leaves one terminal line free. Otherwise, the output would scroll and the cursor couldn't return to the first line.
   */
  #lines(): string[] {
    const room = Math.max(2, (this.#screen.rows || 24) - 1);
    const views = [...this.#views.values()];
    if (views.length <= room) return views.map((view) => this.#lineOf(view));
    const active = views.filter(({ startedAt, endedAt }) => startedAt !== undefined && endedAt === undefined);
    const shown = active.slice(0, room - 1);
    const ended = views.filter(({ endedAt }) => endedAt !== undefined).length;
    const rest = views.length - shown.length - ended;
    const counts = [`${ended} of ${views.length} jobs finished`, ...(rest > 0 ? [`${rest} more to come`] : [])];
    return [...shown.map((view) => this.#lineOf(view)), this.#clip(counts.join(', '))];
  }

  #lineOf(view: JobView): string {
    const text = this.#clip(this.#textOf(view));
    return text.replace(view.state, paint(view.state, toneOf(view.state), this.#screen));
  }

  #clip(text: string): string {
    return clip(text, (this.#screen.columns || 80) - 1);
  }

  #textOf({ job, state, rows, bytes, startedAt, endedAt }: JobView): string {
    const elapsed = startedAt === undefined ? 0 : (endedAt ?? this.#now()) - startedAt;
    const speed = elapsed > 0 && rows > 0 ? `${countText((rows * 1000) / elapsed)} rows/s` : '';
    const facts = [countOf(rows, 'row'), bytesText(bytes), speed, elapsed > 0 ? durationText(elapsed) : ''];
    const name = printable(job);
    const padded = name + ' '.repeat(Math.max(0, nameCells - cellsOf(name)));
    const shown = rows === 0 ? '' : facts.filter((fact) => fact !== '').join(', ');
    return `${padded}  ${state.padEnd(stateCells)}  ${shown}`.trimEnd();
  }
}

function inLine(job: string): JobView {
  return { job, state: 'queued', rows: 0, bytes: 0 };
}
