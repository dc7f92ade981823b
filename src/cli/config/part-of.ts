import type { ShownConfig } from '../../config/show/show-config.ts';
import { below } from '../../config/text/document.ts';
import { didYouMean } from '../../lib/nearest.ts';
import { Problem } from '../../lib/problem.ts';

/** One part of a config, such as `jobs/orders`, with the maps that enclose it; the whole config if no part is named. */
export function partOf({ values, from }: ShownConfig, asked: string | undefined): ShownConfig {
  if (asked === undefined) return { values, from };
  const keys = asked.split('/').filter((key) => key !== '');
  const path = keys.reduce(below, '');
  const inside = Object.entries(from).filter(([place]) => place === path || place.startsWith(`${path}/`));
  return { values: pick(values, keys, asked), from: Object.fromEntries(inside) };
}

function pick(
  values: Readonly<Record<string, unknown>>,
  [key, ...rest]: string[],
  asked: string,
): Record<string, unknown> {
  if (key === undefined) return values;
  const value = Object.hasOwn(values, key) ? values[key] : undefined;
  if (value === undefined) throw unknownPart(key, Object.keys(values), asked);
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isMap && rest.length > 0) throw unknownPart(rest[0]!, [], asked);
  return { [key]: rest.length === 0 ? value : pick(value as Record<string, unknown>, rest, asked) };
}

function unknownPart(key: string, known: readonly string[], asked: string): Problem {
  return new Problem({
    code: 'CLI_UNKNOWN_PART',
    family: 'config',
    message: `Unknown part "${key}"`,
    seen: asked,
    ...(known.length === 0 ? {} : { allowed: known.join(', ') }),
    next: didYouMean(key, known),
  });
}
