import type { Environment } from '@marcbachmann/cel-js';
import { didYouMean } from '../../lib/nearest.ts';
import { Problem } from '../../lib/problem.ts';
import type { Column } from '../../sdk/column.ts';
import { shown } from '../show.ts';

interface ExpressionContext {
  readonly text: string;
  readonly columns: readonly Column[];
  readonly hidden: readonly string[];
  readonly environment: Environment;
}

/**
 * Converts the library's error to a Problem that says what is wrong with the expression and at which character, and
 * suggests a fix.
 */
export function invalidExpression(thrown: unknown, around: ExpressionContext): Problem {
  const { text, columns } = around;
  // If a package is missing, the expression isn't to blame.
  if (thrown instanceof Problem && thrown.family === 'bug') return thrown;
  const unknown = /^Unknown variable: (.+)$/.exec(summaryOf(thrown))?.[1];
  const next = hint(thrown, unknown, around);
  return new Problem({
    code: 'EXPRESSION_INVALID',
    family: 'config',
    message: syntaxFault(thrown, text),
    allowed: unknown === undefined ? undefined : columns.map(({ name, type }) => `${name} (${type})`).join(', '),
    next,
    cause: thrown,
  });
}

/** Describes a syntax error, such as `"a +": unexpected end, at character 4`. */
export function syntaxFault(thrown: unknown, text: string): string {
  const range = (thrown as { range?: { start: number } }).range;
  const place = range === undefined ? '' : `, at character ${range.start + 1}`;
  return `The expression ${shown(text, 200)} is not valid: ${summaryOf(thrown)}${place}`;
}

function summaryOf(thrown: unknown): string {
  const { summary, message } = thrown as { summary?: string; message: string };
  return summary ?? message;
}

function hint(
  thrown: unknown,
  unknown: string | undefined,
  { text, columns, hidden, environment }: ExpressionContext,
): string | undefined {
  if (unknown !== undefined)
    return didYouMean(
      unknown,
      columns.map(({ name }) => name),
    );
  const called = unknownFunction(thrown, environment);
  if (called !== undefined) return didYouMean(called, functionNames(environment));
  const veiled = hidden.find((name) => new RegExp(`\\b${RegExp.escape(name)}\\b`).test(text));
  if (veiled !== undefined) return `"${veiled}" is a reserved word: write the column as row["${veiled}"]`;
  if (/\bnull\b/.test(text))
    return 'test with is_null(x), or set a default with coalesce(x, other): null cannot be compared';
  return undefined;
}

/** Returns the name of the unknown function that an expression calls. Returns undefined for any other error. */
export function unknownFunction(thrown: unknown, environment: Environment): string | undefined {
  const called = /^found no matching overload for '(?:[^'(]*\.)?(\w+)\(/.exec(summaryOf(thrown))?.[1];
  return called === undefined || functionNames(environment).includes(called) ? undefined : called;
}

/** Returns advice that names the most similar known function. */
export function meantFunction(name: string, environment: Environment): string | undefined {
  return didYouMean(name, functionNames(environment));
}

function functionNames(environment: Environment): string[] {
  return environment.getDefinitions().functions.map(({ name }) => name);
}
