import type { ASTNode } from '@marcbachmann/cel-js';

/** A part of an expression that is refused, in the shape of the library's own complaints. */
export class Refused extends Error {
  readonly summary: string;
  readonly range: { readonly start: number };

  constructor(summary: string, node: Pick<ASTNode, 'start'>) {
    super(summary);
    this.summary = summary;
    this.range = { start: node.start };
  }
}
