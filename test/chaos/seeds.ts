const dayMs = 24 * 60 * 60 * 1000;
const { SLUICE_CHAOS_SEED: one, SLUICE_CHAOS_SEEDS: many } = process.env;

/**
 * Which random schedules to run: today's (UTC), so that the points of a matrix take turns day by day
 * (see {@link handOf}); to repeat a failure, the one that SLUICE_CHAOS_SEED selects; or the first SLUICE_CHAOS_SEEDS of
 * them, as `npm run test:chaos` does.
 */
export const seeds: readonly number[] =
  many === undefined
    ? [numberIn(one) ?? Math.floor(Date.now() / dayMs)]
    : Array.from({ length: numberIn(many) ?? 1 }, (_, i) => i + 1);

/** Whether seeds were requested. If so, a test may take much longer. */
export const isOnRequest = (many ?? one ?? '') !== '';

/** Like {@link seeds}, but two a day, for matrices of which a day's test run can test only a few points. */
export const seedPairs: readonly number[] = isOnRequest ? seeds : seeds.flatMap((day) => [2 * day, 2 * day + 1]);

/** An integer from 1; undefined for anything else. */
function numberIn(text: string | undefined): number | undefined {
  const number = Math.trunc(Number(text));
  return number >= 1 ? number : undefined;
}

/** Numbers in [0, 1), which are always the same for a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed * 0x9e3779b1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The same items in a different order (Fisher–Yates shuffle). */
export function shuffled<T>(things: readonly T[], random: () => number): T[] {
  const deck = [...things];
  for (let last = deck.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [deck[last], deck[other]] = [deck[other]!, deck[last]!];
  }
  return deck;
}

/**
 * The part of a deck that a seed runs. Three consecutive seeds run the whole deck, each of them one third in its own
 * order; the next three run the deck again in another order.
 */
export function handOf<T>(seed: number, deck: readonly T[]): T[] {
  const round = Math.floor((seed - 1) / 3);
  return shuffled(deck, randomOf(1000 + round)).filter((_, i) => i % 3 === (seed - 1) % 3);
}
