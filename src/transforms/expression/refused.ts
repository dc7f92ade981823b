import type { ASTNode } from '@marcbachmann/cel-js';

/** Thrown if a part of an expression is rejected. This error has the same fields as the library's errors. */
export class Refused extends Error {
  readonly summary: string;
  readonly range: { readonly start: number };

  constructor(summary: string, node: Pick<ASTNode, 'start'>) {
    super(summary);
    this.summary = summary;
    this.range = { start: node.start };
  }
}
