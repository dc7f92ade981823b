import { isObject } from './exact-json.ts';

/**
 * The location of a value: keys and indexes joined by dots, `*` for every item of a list or value of an object, '' for
 * the whole document. If a key contains a dot, use a list of steps instead.
 */
export type ValuePath = string | readonly string[];

/** All values at a path, in document order. */
export function valuesAt(root: unknown, path: ValuePath): readonly unknown[] {
  let found: unknown[] = [root];
  for (const step of stepsOf(path)) found = found.flatMap((value) => [...below(value, step)]);
  return found.filter((value) => value !== undefined);
}

/** The first value at a path, or undefined. */
export function valueAt(root: unknown, path: ValuePath): unknown {
  let value = root;
  const steps = stepsOf(path);
  for (const [i, step] of steps.entries()) {
    if (step === '*') return valuesAt(value, steps.slice(i))[0];
    value = inside(value, step);
  }
  return value;
}

/** The steps of a path, each a key, an index or `*`. */
export function stepsOf(path: ValuePath): readonly string[] {
  if (typeof path !== 'string') return path;
  return path === '' ? [] : path.split('.');
}

function below(value: unknown, step: string): Iterable<unknown> {
  if (step !== '*') return [inside(value, step)];
  return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
}

function inside(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return /^\d+$/.test(step) ? value[Number(step)] : undefined;
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}
