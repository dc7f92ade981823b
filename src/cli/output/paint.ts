/** The meaning of a color. Colors only repeat what the text already says. */
export type Tone = 'good' | 'bad' | 'waiting' | 'quiet';

/** The properties of a terminal stream that determine color support. */
export interface Canvas {
  readonly isTTY?: boolean;
  /** Node's own check. It respects NO_COLOR, FORCE_COLOR and TERM=dumb. */
  hasColors?(): boolean;
}

const codes: Readonly<Record<Tone, number>> = { good: 32, bad: 31, waiting: 33, quiet: 2 };

/** Colors the text if the stream is a terminal with color support; otherwise, returns the text unchanged. */
export function paint(text: string, tone: Tone | undefined, canvas: Canvas | undefined): string {
  if (tone === undefined || canvas?.isTTY !== true || canvas.hasColors?.() !== true) return text;
  return `\u001b[${codes[tone]}m${text}\u001b[0m`;
}

const tones: readonly (readonly [RegExp, Tone])[] = [
  [/^(delivered|unchanged|refreshed)/, 'good'],
  [/^(failed|quarantined|dead|busy|interrupted|stopped|another run)|credentials/, 'bad'],
  [/^owed|^on hold|wait|attempt|try/, 'waiting'],
  [/^(superseded|never|queued)/, 'quiet'],
];

/** The color tone for a job state, based on the state's label. */
export function toneOf(state: string): Tone | undefined {
  return tones.find(([words]) => words.test(state))?.[1];
}
