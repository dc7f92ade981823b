import { checkerOf } from '../../../src/service/uploads/checkers.ts';

export function rowsOf(document: Buffer): number {
  const checker = checkerOf('xml');
  checker.write(document);
  return checker.end().records!;
}
