import { isObject } from './exact-json.ts';

/**
 * Where a value stands: keys and indices joined by dots, `*` for every item of a list or every value of an object, ''
 * for the whole. As a list of steps where a key holds a dot itself.
 */
export type ValuePath = string | readonly string[];

/** All values at a path, in order; none where nothing is there. */
export function valuesAt(root: unknown, path: ValuePath): readonly unknown[] {
  let found: unknown[] = [root];
  for (const step of stepsOf(path)) found = found.flatMap((value) => [...below(value, step)]);
  return found.filter((value) => value !== undefined);
}

/** The first value at a path; undefined where nothing is there. */
export function valueAt(root: unknown, path: ValuePath): unknown {
  let value = root;
  const steps = stepsOf(path);
  for (const [i, step] of steps.entries()) {
    if (step === '*') return valuesAt(value, steps.slice(i))[0];
    value = [...below(value, step)][0];
  }
  return value;
}

/** The steps of a path, each a key, an index or `*`. */
export function stepsOf(path: ValuePath): readonly string[] {
  if (typeof path !== 'string') return path;
  return path === '' ? [] : path.split('.');
}

function below(value: unknown, step: string): Iterable<unknown> {
  if (step === '*') return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  if (Array.isArray(value)) return [value[Number(step)]];
  return isObject(value) && Object.hasOwn(value, step) ? [value[step]] : [];
}
