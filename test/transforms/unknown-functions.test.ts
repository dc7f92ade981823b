import { describe, expect, it } from 'vitest';
import { faultOf } from '../../src/transforms/expression/expression.ts';

describe("an expression's check before the columns are known", () => {
  it('suggests the closest function', () => {
    expect(faultOf('rond(amount, 2)')).toContain('calls "rond", which is not a function; did you mean "round"?');
    expect(faultOf('name.uper()')).toContain('"uper"');
  });

  it('suggests == for a single =', () => {
    expect(faultOf('country = "DE"')).toContain('write == to compare');
    expect(faultOf('country == "a=b" &&')).not.toContain('write ==');
  });

  it.each([
    'round(amount * 1.19, 2) > 5 && country == "DE"',
    'is_null(a) || coalesce(b, "x") == lower(row["c d"])',
    'items.exists(i, i > 2) && has(row.a) && size(items) > 0',
    'timestamp(at) > now() && a.startsWith("x") && a.contains("y") && a.matches("z.*")',
    'at.getFullYear() == 2026 ? int(a) : b',
  ])('accepts %s', (text) => {
    expect(faultOf(text)).toBe(undefined);
  });
});
