/** A server's part of a dialog: one chunk per turn of the client. */
export type Dialog = readonly Buffer[];

export interface Mutated {
  readonly dialog: Dialog;
  /** Up to here, the dialog is unchanged, and here it ends; undefined if it was changed in another way. */
  readonly cutAt?: { readonly piece: number; readonly byte: number };
}

/** Numbers from 0 (inclusive) to 1 (exclusive), which are always the same for a seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const lengths = ['00', 'ff', '7fffffff', '80000000', 'ffffffff', '00000000', '00000004', '0d0a', '0a0a', 'fe', 'fb'];

/** Changes a dialog in one to three places, or truncates it. */
export function mutate(dialog: Dialog, random: () => number): Mutated {
  const pick = (below: number) => Math.floor(random() * below);
  if (random() < 0.15) {
    const piece = pick(dialog.length);
    const byte = pick(dialog[piece]!.length);
    return { dialog: [...dialog.slice(0, piece), dialog[piece]!.subarray(0, byte)], cutAt: { piece, byte } };
  }
  const pieces = dialog.map((piece) => Buffer.from(piece));
  for (let changes = 1 + pick(3); changes > 0; changes--) change(pieces, pick);
  return { dialog: pieces };
}

function change(pieces: Buffer[], pick: (below: number) => number): void {
  const at = pick(pieces.length);
  const piece = pieces[at]!;
  const from = pick(piece.length + 1);
  const some = piece.subarray(from, from + 1 + pick(40));
  const [before, after] = [piece.subarray(0, from), piece.subarray(from + some.length)];
  const odd = Buffer.from(lengths[pick(lengths.length)]!, 'hex');
  const put = (...parts: Buffer[]) => void pieces.splice(at, 1, Buffer.concat(parts));
  const flip = () => {
    if (from < piece.length) piece.writeUInt8(piece.readUInt8(from) ^ (1 << pick(8)), from);
  };
  const kinds: (() => unknown)[] = [
    flip,
    () => put(before, after),
    () => put(before, some, some, after),
    () => put(before, Buffer.from(Array.from(some, () => pick(256))), some, after),
    () => put(before, odd, piece.subarray(from + odd.length)),
    () => put(before),
    () => pieces.splice(at, 1, piece, piece),
    () => pieces.splice(at, 0, pieces[pick(pieces.length)]!),
    () => pieces.length > 1 && pieces.splice(at, 1),
  ];
  kinds[pick(kinds.length)]!();
}
