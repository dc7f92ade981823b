import { checkerOf } from '../../../src/service/uploads/checkers.ts';

export function rowsOf(document: Buffer): number {
  const checker = checkerOf('csv');
  checker.write(document);
  return checker.end().records!;
}
