import { Problem } from '../../lib/problem.ts';

/**
 * One step of a path: the name of a member or the index of an item, `*` for every member or item, the last item, or a
 * filter.
 */
export type Step = string | LastStep | FilterStep;

/** The last item of a list. */
export interface LastStep {
  readonly last: true;
}

/** The items that meet all conditions. */
export interface FilterStep {
  readonly where: readonly ItemCondition[];
}

/** A comparison of a member of an item; without `is`, the member must exist. */
export interface ItemCondition {
  readonly path: readonly string[];
  readonly is?: string | number | boolean | null;
  readonly isNegated: boolean;
}

const quoted = String.raw`'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"`;
const bracketedName = new RegExp(String.raw`^\[\s*(${quoted})\s*\]`, 's');
const bracketedIndex = /^\[\s*(\d+|-1|\*)\s*\]/;
const filter = new RegExp(String.raw`^\[\?((?:\[\s*(?:${quoted})\s*\]|${quoted}|[^'"[\]])+)\]`, 's');
/** An `&&` that isn't in quotes. */
const and = new RegExp(`&&(?=(?:[^'"]|${quoted})*$)`, 's');
const condition = new RegExp(
  String.raw`^@((?:\.[^.[\]=!<>&|()\s'"]+|\[\s*(?:${quoted})\s*\])*)\s*(?:(==|!=)\s*(${quoted}|-?\d+(?:\.\d+)?|true|false|null))?$`,
  's',
);

/**
 * The steps of a path: names joined by dots, or the part of JSONPath (RFC 9535) that can be read in one pass with flat
 * memory.
 * @throws Problem if the path has another form.
 */
export function parsePath(text: string): readonly Step[] {
  const steps: Step[] = [];
  let rest = text.replace(/^\$(?=[.[]|$)/, '');
  for (let isFirst = rest === text; rest !== ''; isFirst = false) {
    const [part, step] = nextStep(rest, isFirst) ?? [];
    if (part === undefined || step === undefined) throw badPath(text, rest);
    steps.push(step);
    rest = rest.slice(part.length);
  }
  return steps;
}

function nextStep(rest: string, isFirst: boolean): readonly [part: string, step: Step] | undefined {
  const [named, name] = (isFirst ? /^([^.[\]]+)/ : /^\.([^.[\]]+)/).exec(rest) ?? [];
  if (named !== undefined) return [named, name!];
  const [byName, inQuotes] = bracketedName.exec(rest) ?? [];
  if (byName !== undefined) return [byName, unquoted(inQuotes!)];
  const [byIndex, index] = bracketedIndex.exec(rest) ?? [];
  if (byIndex !== undefined) return [byIndex, index === '-1' ? { last: true } : index!];
  const [byFilter, conditions] = filter.exec(rest) ?? [];
  const where = conditions === undefined ? undefined : conditionsOf(conditions);
  return where === undefined ? undefined : [byFilter!, { where }];
}

function conditionsOf(text: string): readonly ItemCondition[] | undefined {
  const bare = text.trim().replace(/^\((.*)\)$/s, '$1');
  const all = bare.split(and).map((part) => conditionOf(part.trim()));
  return all.includes(undefined) ? undefined : (all as ItemCondition[]);
}

function conditionOf(text: string): ItemCondition | undefined {
  const [found, path, sign, literal] = condition.exec(text) ?? [];
  if (found === undefined) return undefined;
  const shared = { path: parsePath(`$${path}`) as readonly string[], isNegated: sign === '!=' };
  return literal === undefined ? shared : { ...shared, is: literalValue(literal) };
}

function literalValue(literal: string): string | number | boolean | null {
  return /^['"]/.test(literal) ? unquoted(literal) : (JSON.parse(literal) as number | boolean | null);
}

function unquoted(text: string): string {
  return text.slice(1, -1).replace(/\\(.)/gs, '$1');
}

/** The problem for a path that isn't valid from `rest` on. */
export function badPath(path: string, rest: string): Problem {
  return new Problem({
    code: 'PLACE_SYNTAX',
    family: 'config',
    message: `"${path}" is not a valid path, from "${rest}" on`,
    allowed: "a.b, a[0], a[-1], a[*], a['b.c'], a[?@.rel=='next'].href",
  });
}
