import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Environment } from '@marcbachmann/cel-js';
import { Compile } from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { language } from '../../src/transforms/expression/environment.ts';
import { transforms } from '../../src/transforms/index.ts';
import { columnsOf, prepare, transformById } from './rig.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/transforms.md'), 'utf8');
const accepts = (id: string, given: unknown) => Compile(transformById(id).schema).Check(given);

describe("a transform's schema", () => {
  it.each([
    ['select', ['id']],
    ['rename', { a: 'b' }],
    ['cast', { a: 'integer', b: { type: 'date', on_error: 'null' } }],
    ['filter', 'a > 1'],
    ['compute', { a: 'b', c: { expression: 'd', type: 'text' } }],
    ['sort', 'a'],
    ['sort', { column: 'a', order: 'desc' }],
    ['sort', ['a', { column: 'b' }]],
    ['sort', { by: ['a'], max_rows: 5 }],
    ['limit', 0],
    ['distinct', null],
    ['distinct', { columns: ['a'] }],
    ['explode', 'a'],
    ['explode', { column: 'a', columns: { b: '[0]' }, header_from: 'first_item', empty: 'drop' }],
    ['explode', { column: 'a', columns: { b: 'b' }, header_from: { column: 'c', path: 'name' } }],
  ])('%s accepts %j', (id, given) => {
    expect(accepts(id, given)).toBe(true);
  });

  it.each([
    ['select', 'id'],
    ['select', []],
    ['rename', { a: '' }],
    ['cast', { a: 'int' }],
    ['cast', { a: { type: 'date', on_error: null } }],
    ['filter', 5],
    ['compute', { a: { type: 'text' } }],
    ['sort', [{ col: 'a' }]],
    ['sort', { by: [] }],
    ['limit', -1],
    ['limit', 1.5],
    ['distinct', { column: ['a'] }],
    ['explode', { columns: { b: 'b' } }],
    ['explode', { column: 'a', columns: {} }],
    ['explode', { column: 'a', header_from: 'c' }],
  ])('%s rejects %j', (id, given) => {
    expect(accepts(id, given)).toBe(false);
  });

  it('has an example that works', () => {
    const columns = columnsOf({
      id: 'integer',
      country: 'text',
      amount: 'decimal',
      created_at: 'timestamptz',
      amt: 'decimal',
      paid_on: 'text',
      customer: 'text',
      lines: 'json',
    });
    for (const { id, schema } of transforms) {
      const [example] = schema.examples as [unknown];
      expect(accepts(id, example)).toBe(true);
      const known = id === 'rename' ? columns.filter(({ name }) => name !== 'amount') : columns;
      expect(prepare(id, example, known).columns.length).toBeGreaterThan(0);
    }
  });
});

describe('the page about transforms', () => {
  it('documents every transform and every function that Sluice adds to the language', () => {
    const own = new Set(new Environment().getDefinitions().functions.map(({ signature }) => signature));
    const added = language()
      .getDefinitions()
      .functions.filter(({ signature, name }) => !own.has(signature) && name !== 'type')
      .map(({ name }) => name);
    expect(new Set(added).size).toBeGreaterThan(20);
    expect([...new Set([...added, 'now'])].filter((name) => !page.includes(`${name}(`))).toEqual([]);
    expect(transforms.filter(({ id }) => !page.includes(`| \`${id}\` |`))).toEqual([]);
  });

  it('shows only valid steps', () => {
    const columns = columnsOf({ id: 'integer', country: 'text', amount: 'decimal' });
    const first = prepare('filter', 'amount > 10 && country == "DE"', columns);
    const second = prepare('compute', { country: 'lower(country)', gross: 'round(amount * 1.19, 2)' }, first.columns);
    expect(page).toContain('gross: round(amount * 1.19, 2)');
    expect(second.columns.map(({ name, type }) => `${name} ${type}`)).toContain('gross decimal');
  });
});
