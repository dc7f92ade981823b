import { Check, Compile } from 'typebox/schema';
import type { JsonSchema } from '../../sdk/option.ts';

/** The number of times each schema was used and, after enough uses, its compiled validator. */
const uses = new WeakMap<JsonSchema, { times: number; check?: (value: unknown) => boolean }>();
/** Number of uncompiled checks that take as long as compiling the schema. */
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
