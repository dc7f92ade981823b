/** Heartbeat interval during a wait. */
const signEveryMs = 10_000;

/** Calls `alive` regularly until the work has ended, because a long pause isn't a stall. */
export async function withSignsOfLife<T>(alive: () => void, work: () => Promise<T>): Promise<T> {
  const signs = setInterval(alive, signEveryMs);
  signs.unref();
  try {
    return await work();
  } finally {
    clearInterval(signs);
    alive();
  }
}
