import { describe, expect, it } from 'vitest';
import { faultOf } from '../../src/transforms/expression/expression.ts';
import { columnsOf, computed, prepare, problemOf } from './rig.ts';

const types = { note: 'text', shape: 'text', id: 'integer', doc: 'json' } as const;
const value = (expression: string, note: string | null, shape: string | null = null) =>
  computed(expression, types, [note, shape, 1, '{"a": "xyz"}']);
const fault = (expression: string) => problemOf(() => prepare('filter', expression, columnsOf(types)));

describe('a regular expression', () => {
  it.each([
    [String.raw`note.matches("^Z\\w+ \\d{1,3}$")`, 'Zoë 12', 'false'],
    [String.raw`note.matches("^Z\\pL+ \\d{1,3}$")`, 'Zoë 12', 'true'],
    ['note.matches("(?i)depot|DOOR")', 'Second door', 'true'],
    ['note.matches(r"^\\s*$")', 'x', 'false'],
    ['!note.matches("7")', 'depot 7', 'false'],
    ['["a", "b"].exists(s, note.matches("^" + s))', 'bread', 'true'],
    ['note.matches("")', '', 'true'],
  ])('%s of %j is %s', (expression, note, expected) => {
    expect(value(expression, note)).toBe(expected);
  });

  it('can come from a column or from a JSON field', () => {
    expect(value('note.matches(shape)', 'depot 7', '[0-9]$')).toBe('true');
    expect(value('doc.a.matches("z$")', null)).toBe('true');
  });

  it('returns null for a null cell or a null pattern', () => {
    expect(value('note.matches("x")', null)).toBe(null);
    expect(value('note.matches(shape)', 'x', null)).toBe(null);
    expect(value('is_null(note) || note.matches("x")', null)).toBe('true');
  });

  it('takes linear time even if a backtracking engine would take exponential time', () => {
    expect(value('note.matches("^(a+)+$")', `${'a'.repeat(50_000)}b`)).toBe('false');
    expect(value('note.matches("^(.*?,){11}P")', '1,2,3,'.repeat(10_000))).toBe('false');
  });

  it("that is invalid is reported by a check, with the error's position", () => {
    const sentence = 'the regular expression is not valid: missing closing ): `(a` (RE2 syntax), at character 25';
    expect(fault('id == 1 && note.matches("(a")')).toMatchObject({ code: 'EXPRESSION_INVALID', family: 'config' });
    expect(fault('id == 1 && note.matches("(a")').message).toContain(sentence);
    expect(faultOf('id == 1 && note.matches("(a")')).toContain(sentence);
    expect(fault(String.raw`note.matches("(a)\\1")`).message).toContain('invalid escape sequence: `\\1`');
  });

  it('that is invalid and comes from a row is reported for that row', () => {
    expect(problemOf(() => value('note.matches(shape)', 'x', '(a'))).toMatchObject({
      code: 'EXPRESSION_FAILED',
      family: 'row',
    });
  });

  it('applies only to text', () => {
    expect(fault('id.matches("1")').message).toContain("matches needs two strings, not 'int' and 'string'");
    expect(fault('note.matches(1)').message).toContain("not 'string' and 'int'");
    expect(problemOf(() => value('doc.matches("x")', 'x'))).toMatchObject({ code: 'EXPRESSION_FAILED' });
  });
});
