import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { late } from '../../lib/late.ts';
import { CellFault } from './cell-fault.ts';
import type { CelType, Macro } from './macro.ts';
import { Refused } from './refused.ts';

const re2 = late<typeof import('re2js')>(import.meta.url, 're2js');

interface MatchesCall {
  readonly ast: ASTNode;
  readonly receiver: ASTNode;
  readonly args: readonly [ASTNode];
}

/**
 * Makes `text.matches(pattern)` use RE2. The language specifies RE2's syntax, and RE2 guarantees linear time. The
 * library uses the regular expressions of JavaScript, in which a pattern like `^(a+)+$` can block the whole process
 * indefinitely. Functions of the library can't be replaced, but a macro takes precedence over any function, whatever
 * the receiver's type is. The receiver type that is declared here therefore doesn't matter.
 */
export function registerMatches(environment: Environment): void {
  environment.registerFunction('bool.matches(ast): bool', ({ ast, receiver, args }: MatchesCall): Macro => {
    const [pattern] = args;
    // If the pattern is a literal, compile it now, so that `sluice check` rejects an invalid pattern before any rows
    // are read.
    if (pattern.op === 'value' && typeof pattern.args === 'string') compiled(pattern.args, pattern);
    let last: { readonly pattern: string; readonly test: (text: string) => boolean } | undefined;
    return {
      args,
      async: false,
      typeCheck(checker, _, context) {
        const types = [checker.check(receiver, context), checker.check(pattern, context)] as const;
        if (types.every(mayBeText)) return checker.getType('bool');
        throw new Refused(`matches needs two strings, not '${types[0].name}' and '${types[1].name}'`, ast);
      },
      evaluate(runner, _, context) {
        const text = runner.run(receiver, context);
        const wanted = runner.run(pattern, context);
        if (typeof text !== 'string' || typeof wanted !== 'string') throw new CellFault('matches needs two strings');
        if (last?.pattern !== wanted) last = { pattern: wanted, test: compiled(wanted, pattern) };
        return last.test(text);
      },
    };
  });
}

function mayBeText({ name }: CelType): boolean {
  return name === 'string' || name === 'dyn';
}

/** Compiles a pattern. Throws {@link Refused} if RE2 doesn't support the pattern. */
function compiled(pattern: string, node: ASTNode): (text: string) => boolean {
  const { RE2JS } = re2();
  try {
    const expression = RE2JS.compile(pattern);
    return (text) => expression.test(text);
  } catch (thrown) {
    throw new Refused(`the regular expression is not valid: ${wordsOf(thrown)} (RE2 syntax)`, node);
  }
}

/** Returns the library's message without "error parsing regexp: ". */
function wordsOf(thrown: unknown): string {
  return String((thrown as Error).message).replace(/^error parsing regexp: /, '');
}
