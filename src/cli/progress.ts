import { bytesText, countText, durationText } from './figures.ts';
import { cellsOf, clip, printable } from './table.ts';

/** What a person sees of one job while it works. */
export interface JobView {
  readonly job: string;
  /** One or two words: waiting, reading, sending, delivered, unchanged, failed … */
  state: string;
  rows: number;
  bytes: number;
  startedAt?: number;
  endedAt?: number;
}

/** Where progress is drawn; a slice of a TTY stream. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const redrawMs = 100;

/**
 * Draws one line a job, in place on a terminal; where the output is piped, one plain line at each change of state and
 * nothing in between. `refresh` is cheap and may be called for every event.
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

  /** Tells what is new about a job. A change of state shows at once when piped, within a tenth of a second on a terminal. */
  refresh(job: string, news: Partial<Omit<JobView, 'job'>>): void {
    const view = this.#views.get(job) ?? { job, state: 'waiting', rows: 0, bytes: 0 };
    const turned = news.state !== undefined && news.state !== view.state;
    Object.assign(view, news);
    this.#views.set(job, view);
    if (this.#screen.isTTY !== true) {
      if (turned) this.#screen.write(`${this.#lineOf(view)}\n`);
      return;
    }
    this.#timer ??= setInterval(() => this.#draw(), redrawMs).unref();
  }

  /** Draws the last state and lets go of the terminal. */
  stop(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#draw();
    this.#drawn = 0;
  }

  #draw(): void {
    const width = (this.#screen.columns ?? 80) - 1;
    const up = this.#drawn === 0 ? '' : `\u001b[${this.#drawn}A`;
    const lines = [...this.#views.values()].map((view) => `\r\u001b[2K${clip(this.#lineOf(view), width)}\n`);
    this.#screen.write(up + lines.join(''));
    this.#drawn = lines.length;
  }

  #lineOf({ job, state, rows, bytes, startedAt, endedAt }: JobView): string {
    const elapsed = startedAt === undefined ? 0 : (endedAt ?? this.#now()) - startedAt;
    const speed = elapsed > 0 && rows > 0 ? `${countText((rows * 1000) / elapsed)} rows/s` : '';
    const facts = [`${countText(rows)} rows`, bytesText(bytes), speed, elapsed > 0 ? durationText(elapsed) : ''];
    const name = printable(job);
    const padded = name + ' '.repeat(Math.max(0, 20 - cellsOf(name)));
    return `${padded}  ${state.padEnd(12)}  ${rows === 0 ? '' : facts.filter((fact) => fact !== '').join(', ')}`.trimEnd();
  }
}
