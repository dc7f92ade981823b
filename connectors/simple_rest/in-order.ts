/** Thrown by calls that stop because an earlier one has failed. */
export class StoppedEarly extends Error {}

/** Resolves after all earlier calls have ended. Throws a {@link StoppedEarly} if one of them has failed. */
export type MyTurn = () => Promise<void>;

/**
 * Calls `read` with each item, at most `most` at once. A call does what doesn't depend on the order, waits for its turn,
 * and then does the rest, so the result doesn't depend on which call is faster.
 * @throws the error of the first item that failed, after all calls have ended.
 */
export async function inOrder<T>(
  items: Iterable<T>,
  most: number,
  read: (item: T, myTurn: MyTurn) => Promise<void>,
): Promise<void> {
  const running: Promise<boolean>[] = [];
  let before = Promise.resolve(true);
  let problem: unknown;
  for (const item of items) {
    if (running.length === most && !(await running.shift())) break;
    const earlier = before;
    const myTurn = async () => {
      if (!(await earlier)) throw new StoppedEarly();
    };
    const done = read(item, myTurn).then(
      () => earlier,
      async (error: unknown) => {
        if (await earlier) problem = error;
        return false;
      },
    );
    before = done;
    running.push(done);
  }
  await Promise.all(running);
  if (!(await before)) throw problem;
}
