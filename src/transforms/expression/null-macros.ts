import type { Environment } from '@marcbachmann/cel-js';
import { decimalOf } from './decimal-operators.ts';
import type { CelType, Macro, MacroCall, Runner, TypeChecker } from './macro.ts';
import { nullTouched } from './null-touched.ts';

const maxValues = 8;
const numeric = ['Decimal', 'int', 'double'];

/** Adds `coalesce`, `is_null` and `null_if` to the language, for cells that are null. */
export function registerNullMacros(environment: Environment): void {
  for (let count = 2; count <= maxValues; count++)
    environment.registerFunction(`coalesce(${Array(count).fill('ast').join(', ')}): dyn`, ({ args }: MacroCall) =>
      coalesce(args),
    );
  environment.registerFunction('is_null(ast): bool', ({ args }: MacroCall) => isNull(args));
  environment.registerFunction('null_if(ast, ast): dyn', ({ args }: MacroCall) => nullIf(args));
}

function coalesce(args: readonly unknown[]): Macro {
  return {
    args,
    async: false,
    typeCheck(checker, macro, context) {
      const types = args.map((node) => checker.check(node, context));
      macro.asDecimal =
        types.some(({ name }) => name === 'Decimal') && types.every(({ name }) => numeric.includes(name));
      return macro.asDecimal ? checker.getType('Decimal') : commonType(checker, types, args);
    },
    evaluate(runner, macro, context) {
      for (const node of args) {
        const value = valueOrNull(runner, node, context);
        if (value !== null) return macro.asDecimal ? decimalOf(value as number) : value;
      }
      throw nullTouched;
    },
  };
}

function commonType(checker: TypeChecker, types: readonly CelType[], nodes: readonly unknown[]): CelType {
  let common = types[0]!;
  for (const [index, type] of types.entries()) {
    const unified = common.unify(checker.registry, type);
    if (unified === null)
      throw checker.createError(
        'coalesce_types',
        `coalesce needs values of one type, not '${common.name}' and '${type.name}'`,
        nodes[index],
      );
    common = unified;
  }
  return common;
}

function isNull(args: readonly unknown[]): Macro {
  return {
    args,
    async: false,
    typeCheck(checker, _, context) {
      checker.check(args[0], context);
      return checker.getType('bool');
    },
    evaluate: (runner, _, context) => valueOrNull(runner, args[0], context) === null,
  };
}

/**
 * Returns null if both arguments are equal, and otherwise the first argument. It can be used to convert empty strings
 * to null.
 */
function nullIf(args: readonly unknown[]): Macro {
  return {
    args,
    async: false,
    typeCheck(checker, _, context) {
      const [value, unwanted] = [checker.check(args[0], context), checker.check(args[1], context)];
      if (value.name === unwanted.name && value.name !== 'Decimal') return value;
      throw checker.createError(
        'null_if_types',
        `null_if needs two values of one type other than decimal, not '${value.name}' and '${unwanted.name}'`,
        args[1],
      );
    },
    evaluate(runner, _, context) {
      const value = runner.run(args[0], context);
      if (value === runner.run(args[1], context)) throw nullTouched;
      return value;
    },
  };
}

function valueOrNull(runner: Runner, node: unknown, context: unknown): unknown {
  try {
    return runner.run(node, context);
  } catch (thrown) {
    if (thrown === nullTouched) return null;
    throw thrown;
  }
}
