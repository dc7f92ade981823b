import { Problem } from '../../lib/problem.ts';
import { Expression, faultOf } from '../expression/expression.ts';
import { keepRows } from '../stored.ts';
import { defineTransform } from '../transform.ts';

/** Keeps the rows for which an expression is true. */
export default defineTransform<string>({
  id: 'filter',
  title: 'Filter',
  summary: 'Keeps the rows for which an expression is true.',
  schema: {
    type: 'string',
    minLength: 1,
    description: 'A CEL expression over the columns; rows for which it is false or null are dropped.',
    examples: ['amount > 10 && country == "DE"'],
  },
  check(text) {
    const fault = faultOf(text);
    return fault === undefined ? [] : [fault];
  },
  prepare(text, columns) {
    const expression = new Expression(text, columns);
    if (expression.type !== 'bool' && expression.type !== 'dyn') throw noCondition(expression);
    const isTrue = (stored: number): boolean => {
      const value = expression.at(stored);
      if (typeof value === 'boolean' || value === null) return value === true;
      throw expression.failed(new Error('the condition is neither true nor false'));
    };
    return {
      columns,
      apply(batch, before = 0) {
        expression.enter(batch, before);
        return keepRows(batch, isTrue);
      },
    };
  },
});

function noCondition({ text, type }: Expression): Problem {
  return new Problem({
    code: 'EXPRESSION_INVALID',
    family: 'config',
    message: `The filter ${JSON.stringify(text)} returns ${type}, not true or false`,
    next: 'compare the result with a value: ==, !=, <, <=, >, >=',
  });
}
