import { describe, expect, it } from 'vitest';
import { fieldOf, referenceOf } from '../../src/secrets/field-of.ts';
import type { SecretContent } from '../../src/secrets/provider.ts';

const content = { 'a.b': 'own', a: { b: 'inner', c: ['x', 'y'] }, none: null };
const read = (field: string, from: object | string = content) => fieldOf(from as SecretContent, { name: 's', field });

describe('a field of a secret', () => {
  it('is found by its name, or otherwise by a path of names and positions', () => {
    expect([read('a.b'), read('a.c.1')]).toEqual(['own', 'y']);
    expect(read('a.b', { a: content.a })).toBe('inner');
    expect(read('a', '{"a": 12345678901234567890}')).toBe('12345678901234567890');
  });

  it.each(['b', 'none', 'a.d', 'a.c.2', 'a.b.length', 'constructor', 'a.constructor.name', 'a.c.length'])(
    'causes an error if the secret has no such field: %s',
    (field) => {
      const from = field === 'a.c.length' ? { a: { c: 'text' } } : content;
      expect(() => read(field, from)).toThrow(`has no field "${field}"`);
    },
  );

  it('is the part of a reference after the first number sign', () => {
    expect(referenceOf(' db # a#b ')).toEqual({ name: 'db', field: 'a#b' });
    expect(referenceOf('db')).toEqual({ name: 'db', field: undefined });
  });
});
