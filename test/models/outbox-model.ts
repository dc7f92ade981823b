/** What becomes of a payload, as a person would tell it. */
export interface Piece {
  readonly id: number;
  readonly text: string;
  /** When its data was read. */
  readonly asOf: number;
  readonly path: string;
  state: 'owed' | 'delivered' | 'superseded' | 'quarantined' | 'discarded' | 'dead';
  /** A person put it back or let it go: it may be older than what is shown without anybody's knowledge. */
  putBack: boolean;
  /** Its file is gone. */
  lost?: true;
  /** It gave way, and its file with it, or that was lost: even if the service then takes it, it cannot be put back. */
  gone?: true;
  /** When it was last tried. */
  triedAt?: number;
  /** How often it was tried since it became owed. */
  tries?: number;
}

/** What is believed of the instance: what it holds, surely or not, and the newest data that was ever tried there. */
interface Belief {
  text: string;
  asOf: number;
  certain: boolean;
  tried: number;
  /** When the service last took something. */
  at: number;
}

/** A request that was given up may be carried out this much later. */
const lateMs = 10 * 60_000;

/** The outbox of one instance in fifty lines: it knows no database, no file and no process. */
export class OutboxModel {
  readonly pieces: Piece[] = [];
  belief: Belief | undefined;
  /** What the instance really shows. */
  shown: { readonly text: string; readonly asOf: number } | undefined;
  /** Under way to the service now. */
  sending: Piece | undefined;

  /** What the instance waits for. */
  get waiting(): Piece[] {
    return this.pieces.filter(({ state }) => state === 'owed' || state === 'quarantined' || state === 'dead');
  }

  get owed(): Piece | undefined {
    return this.pieces.find(({ state }) => state === 'owed');
  }

  /** What a finished extract comes to. */
  commit(text: string, asOf: number): 'owed' | 'superseded' | 'unchanged' {
    if (Math.max(this.owed?.asOf ?? 0, this.belief?.tried ?? 0) > asOf) return 'superseded';
    this.supersede();
    if (this.belief?.certain !== true || this.belief.text !== text || this.#mayBeReplaced(this.belief)) return 'owed';
    this.belief = { ...this.belief, asOf, tried: Math.max(asOf, this.belief.tried) };
    if (this.shown?.text === text) this.shown = { text, asOf };
    return 'unchanged';
  }

  /** Something else was tried, came to nothing, and may yet arrive. */
  #mayBeReplaced({ text, at }: Belief): boolean {
    return this.pieces.some(
      ({ state, tries = 0, ...piece }) =>
        (state === 'superseded' || (state === 'delivered' && tries > 1)) &&
        piece.text !== text &&
        (piece.triedAt ?? 0) > at - lateMs,
    );
  }

  /** All that waits gives way, but for one. */
  supersede(but?: Piece): void {
    for (const piece of this.waiting) {
      if (piece === but) continue;
      piece.state = 'superseded';
      if (!this.#isWanted(piece.path)) piece.gone = true;
    }
  }

  #isWanted(path: string): boolean {
    return this.pieces.some((piece) => piece.path === path && !['superseded', 'discarded'].includes(piece.state));
  }

  begin(piece: Piece, now: number): void {
    this.sending = piece;
    piece.triedAt = now;
    piece.tries = (piece.tries ?? 0) + 1;
    const { text, asOf } = piece;
    this.belief = {
      ...(this.belief ?? { text, asOf, at: 0 }),
      certain: false,
      tried: Math.max(asOf, this.belief?.tried ?? 0),
    };
  }

  /** The service takes what is under way. Whole payloads only, and by itself nothing older than what is shown. */
  take(): void {
    const { text, asOf, putBack } = this.sending!;
    if (!putBack && this.shown !== undefined && asOf < this.shown.asOf) {
      throw new Error(`3: data of ${asOf} was sent where data of ${this.shown.asOf} is shown`);
    }
    this.shown = { text, asOf };
  }

  /** The answer says that it was taken. */
  confirm(now: number): void {
    const piece = this.sending!;
    const { text, asOf } = piece;
    this.belief = { text, asOf, certain: true, tried: Math.max(asOf, this.belief!.tried), at: now };
    if (['owed', 'superseded', 'dead'].includes(piece.state)) piece.state = 'delivered';
  }

  /** Whether newer data is known to be there or on its way: a decision for this piece comes too late. */
  isLate(piece: Piece): boolean {
    const isShown = this.belief?.certain === true && this.belief.asOf > piece.asOf;
    return isShown || (this.owed?.asOf ?? 0) > piece.asOf;
  }

  /** What a rollback would put back: the newest data from before the present one. */
  former(): Piece | undefined {
    const present = this.pieces.findLast(({ state }) => state === 'owed' || state === 'delivered');
    return this.pieces
      .filter(({ state, asOf, gone }) => state === 'delivered' && gone === undefined && asOf < (present?.asOf ?? 0))
      .sort((a, b) => b.asOf - a.asOf || b.id - a.id)[0];
  }
}
