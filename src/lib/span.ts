/** The units of durations, which people write as `90s`, `15m`, `36h`, `2d` or `1w`, or combined, as in `1h30m`. */

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const unitWords: readonly (readonly [RegExp, string])[] = [
  [/^s(ec(ond)?s?)?$/, 's'],
  [/^m(in(ute)?s?)?$/, 'm'],
  [/^h((ou)?rs?)?$/, 'h'],
  [/^d(ays?)?$/, 'd'],
  [/^w(eeks?)?$/, 'w'],
];

/** The duration in milliseconds; undefined if the string isn't a duration. */
export function parseSpan(text: string): number | undefined {
  if (!/^(\d{1,9}[smhdw])+$/.test(text)) return undefined;
  const parts = text.matchAll(/(\d+)([smhdw])/g);
  return [...parts].reduce((sum, [, count, unit]) => sum + Number(count) * unitMs[unit!]!, 0);
}

/** The milliseconds of a duration that has passed schema validation. */
export function spanOf(text: string): number {
  return parseSpan(text) ?? Number.NaN;
}

/** A duration in the largest units that express it exactly. */
export function spanText(milliseconds: number): string {
  let left = milliseconds;
  let text = '';
  for (const unit of ['w', 'd', 'h', 'm', 's']) {
    const count = Math.floor(left / unitMs[unit]!);
    // Weeks are used only on their own, because "1w1d" is unusual.
    if (count === 0 || (unit === 'w' && left % unitMs.w! !== 0)) continue;
    text += `${count}${unit}`;
    left -= count * unitMs[unit]!;
  }
  return text === '' ? '0s' : text;
}

/** The duration that `90 s`, `15 minutes` or `1 Hour` probably means; undefined if that's unclear. */
export function meantSpan(text: string): string | undefined {
  const parts = [...text.toLowerCase().matchAll(/(\d{1,9})\s*([a-z]+)/g)];
  const words = parts.map(([, count, word]) => `${count}${unitWords.find(([form]) => form.test(word!))?.[1] ?? '?'}`);
  const meant = words.join('');
  return text.replace(/\d+\s*[a-z]+|[\s,]|and/gi, '') === '' && parseSpan(meant) !== undefined ? meant : undefined;
}
