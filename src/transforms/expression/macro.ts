/** Types for the arguments that the library passes to macros. The library doesn't declare them. */
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
  /** True if all values must be converted to decimals. `typeCheck` sets this. */
  asDecimal?: boolean;
  typeCheck(checker: TypeChecker, macro: Macro, context: unknown): CelType;
  evaluate(runner: Runner, macro: Macro, context: unknown): unknown;
}
