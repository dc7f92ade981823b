/** Types for the arguments of macros, which the library leaves untyped. */
export interface CelType {
  readonly name: string;
  unify(registry: unknown, other: CelType): CelType | null;
}
export interface TypeChecker {
  readonly registry: unknown;
  check(node: unknown, context: unknown): CelType;
  getType(name: string): CelType;
  createError(code: string, message: string, node: unknown): Error;
}
export interface Runner {
  run(node: unknown, context: unknown): unknown;
}
export interface MacroCall {
  readonly args: readonly unknown[];
}
export interface Macro extends MacroCall {
  readonly async: false;
  /** Set by typeCheck: all values are converted to decimals. */
  asDecimal?: boolean;
  typeCheck(checker: TypeChecker, macro: Macro, context: unknown): CelType;
  evaluate(runner: Runner, macro: Macro, context: unknown): unknown;
}
