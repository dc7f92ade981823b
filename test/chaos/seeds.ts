/** How many random schedules are played: SLUICE_CHAOS_SEEDS, three where nothing is said. */
export const seeds: readonly number[] = Array.from(
  { length: Math.max(1, Math.trunc(Number(process.env.SLUICE_CHAOS_SEEDS ?? '3')) || 3) },
  (_, i) => i + 1,
);

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed * 0x9e3779b1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The same things in another order (Fisher and Yates). */
export function shuffled<T>(things: readonly T[], random: () => number): T[] {
  const deck = [...things];
  for (let last = deck.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [deck[last], deck[other]] = [deck[other]!, deck[last]!];
  }
  return deck;
}

/**
 * What a seed plays of a deck: three seeds in a row play all of it, each a third in an order of its own; the next three
 * play it again in another order.
 */
export function handOf<T>(seed: number, deck: readonly T[]): T[] {
  const round = Math.floor((seed - 1) / 3);
  return shuffled(deck, randomOf(1000 + round)).filter((_, i) => i % 3 === (seed - 1) % 3);
}
