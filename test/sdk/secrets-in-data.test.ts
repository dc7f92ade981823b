import { afterEach, expect, test } from 'vitest';
import { forgetSecrets, registerSecret } from '../../src/lib/redact.ts';
import { inputOf, readTable } from './inputs.ts';

afterEach(forgetSecrets);

const key = '3f9a7c5e1b8d2046aa55cc77ee99bb1133ddff02';

const answers = [
  ['json', `Key ${key} is not known here`, 'JSON_SYNTAX', {}],
  ['json', `[{"a": 1} ${key}]`, 'JSON_SYNTAX', {}],
  ['csv', `a,b\n1,${'x'.repeat(20)}${key}" pipe\n`, 'CSV_QUOTE', {}],
  ['csv', `a,b\n1,no" ${key}\n`, 'CSV_QUOTE', {}],
  ['csv', `a,b\n1,${'no number '.repeat(4)}${key}\n`, 'RECORDS_VALUE', { types: { b: 'integer' } }],
] as const;

test.each(answers)('no part of a key appears in the error about invalid %s: %j', async (format, text, code, given) => {
  registerSecret(key);
  // The response's chunks may split the key anywhere.
  for (const size of [1 << 20, 9, 30, 50]) {
    const problem = await readTable(inputOf(text, size), format, given).catch((error: unknown) => error);
    expect(problem).toMatchObject({ code });
    const { message, seen = '' } = problem as Error & { seen?: string };
    for (let at = 0; at + 4 <= key.length; at++) expect(`${message} ${seen}`).not.toContain(key.slice(at, at + 4));
  }
});
