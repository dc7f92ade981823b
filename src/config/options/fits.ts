import { Check, Compile } from 'typebox/schema';
import type { JsonSchema } from '../../sdk/option.ts';

/** For each schema, how often it was used and, after enough uses, a compiled validator. */
const uses = new WeakMap<JsonSchema, { times: number; check?: (value: unknown) => boolean }>();
/** Compiling a schema takes as long as this many uncompiled checks. */
const worthCompiling = 20;

/** Whether a value matches a schema. */
export function fits(schema: JsonSchema, value: unknown): boolean {
  const use = uses.get(schema) ?? { times: 0 };
  uses.set(schema, use);
  use.times += 1;
  if (use.times === worthCompiling) {
    const compiled = Compile(schema);
    use.check = (it) => compiled.Check(it);
  }
  return use.check === undefined ? Check(schema, value) : use.check(value);
}
