/** What happens to a payload, as a user would describe it. */
export interface Piece {
  readonly id: number;
  readonly text: string;
  /** When its data was read. */
  readonly asOf: number;
  readonly path: string;
  state: 'owed' | 'delivered' | 'superseded' | 'quarantined' | 'discarded' | 'dead';
  /** A user restored or approved this payload, so it may be older than what is shown. */
  putBack: boolean;
  /** Its file is missing. */
  lost?: true;
  /**
   * It was superseded and its file deleted, or the file was lost. Even if the service accepts it later, it can't be
   * restored.
   */
  gone?: true;
  /** When it was last attempted. */
  triedAt?: number;
  /** That attempt has not ended. */
  open?: boolean;
  /** A superseded or resent payload has none. */
  isAdrift?: boolean;
  /** When an attempt to send it was last given up. */
  unansweredAt?: number;
  /** After a failed resend, the time before which the next one doesn't start. */
  notBefore?: number;
}

/** The request was given up but may still be executed. */
interface Late {
  readonly text: string;
  readonly asOf: number;
  readonly until: number;
}

/**
 * What is known about the instance: its contents, whether they're certain, and the newest data that was ever sent to
 * it.
 */
interface Belief {
  text: string;
  asOf: number;
  certain: boolean;
  tried: number;
  /** When the service last accepted something. */
  at: number;
}

/** How much later a request that was given up may still be executed. */
const lateMs = 10 * 60_000;

/** One instance's outbox in a few lines, without a database, files or processes. */
export class OutboxModel {
  readonly pieces: Piece[] = [];
  belief: Belief | undefined;
  /** What the instance really shows. */
  shown: { readonly text: string; readonly asOf: number } | undefined;
  /** Currently in transit to the service. */
  sending: Piece | undefined;
  /** What was known for certain before that. */
  wasCertain = false;
  /** When an attempt before that was given up. */
  answeredBefore: number | undefined;
  late: Late[] = [];

  /** What waits for the instance. */
  get waiting(): Piece[] {
    return this.pieces.filter(({ state }) => state === 'owed' || state === 'quarantined' || state === 'dead');
  }

  get owed(): Piece | undefined {
    return this.pieces.find(({ state }) => state === 'owed');
  }

  /** The result of a finished extract. */
  commit(text: string, asOf: number, now: number): 'owed' | 'superseded' | 'unchanged' {
    if (Math.max(this.owed?.asOf ?? 0, this.belief?.tried ?? 0) > asOf) return 'superseded';
    this.supersede();
    if (this.belief?.certain !== true || this.belief.text !== text || this.contestedUntil() <= now) return 'owed';
    this.belief = { ...this.belief, asOf, tried: Math.max(asOf, this.belief.tried) };
    if (this.shown?.text === text) this.shown = { text, asOf };
    return 'unchanged';
  }

  /** Until when an abandoned attempt with other data may still arrive; infinite if there is no such attempt. */
  contestedUntil(): number {
    const { text, at, certain } = this.belief ?? { text: '', at: 0, certain: false };
    if (!certain) return Number.POSITIVE_INFINITY;
    const rivals = this.pieces.filter(
      ({ state, unansweredAt = 0, ...piece }) =>
        ['superseded', 'delivered'].includes(state) && piece.text !== text && unansweredAt > at - lateMs,
    );
    if (rivals.length === 0) return Number.POSITIVE_INFINITY;
    return Math.max(...rivals.map(({ unansweredAt = 0 }) => unansweredAt)) + lateMs;
  }

  /** The last delivered payload, if its resend is due. */
  repeat(now: number): Piece | undefined {
    if (this.contestedUntil() > now || this.owed !== undefined) return undefined;
    return this.pieces.findLast(({ state, text }) => state === 'delivered' && text === this.belief!.text);
  }

  /** The service accepts the payload; with `isAnswered`, we also get the response. */
  takeAgain(piece: Piece, now: number, isAnswered: boolean): void {
    this.shown = { text: piece.text, asOf: this.belief!.asOf };
    if (isAnswered) this.belief = { ...this.belief!, at: now };
  }

  /** A request that was given up is executed. */
  arrive(now: number): void {
    this.late = this.late.filter(({ until }) => until >= now);
    const [first] = this.late.splice(0, 1);
    if (first !== undefined) this.shown = first;
  }

  /** No process is waiting for the response to the request in progress, or ever will. */
  giveUp({ taken, now }: { taken: boolean; now: number }): void {
    const { text, asOf } = this.sending!;
    if (!taken) this.late.push({ text, asOf, until: now + lateMs });
  }

  /** Supersedes all waiting payloads, or all except one. */
  supersede(but?: Piece): void {
    for (const piece of this.waiting) {
      if (piece === but) continue;
      piece.state = 'superseded';
      if (piece.open && piece.triedAt !== undefined) {
        piece.unansweredAt = piece.triedAt;
        piece.isAdrift = true;
      }
      if (!this.#isWanted(piece.path)) piece.gone = true;
    }
  }

  #isWanted(path: string): boolean {
    return this.pieces.some((piece) => piece.path === path && !['superseded', 'discarded'].includes(piece.state));
  }

  begin(piece: Piece, now: number): void {
    this.sending = piece;
    if (piece.open) piece.unansweredAt = now;
    for (const other of this.pieces) {
      if (other === piece || !other.isAdrift) continue;
      other.unansweredAt = now;
      other.isAdrift = false;
    }
    this.answeredBefore = piece.unansweredAt;
    piece.triedAt = now;
    piece.open = true;
    this.wasCertain = this.belief?.certain === true;
    const { text, asOf } = piece;
    this.belief = {
      ...(this.belief ?? { text, asOf, at: 0 }),
      certain: false,
      tried: Math.max(asOf, this.belief?.tried ?? 0),
    };
  }

  /**
   * The service accepts what is in transit, but only complete payloads and, by itself, nothing older than what is
   * shown.
   */
  take(): void {
    const { text, asOf, putBack } = this.sending!;
    if (!putBack && this.shown !== undefined && asOf < this.shown.asOf) {
      throw new Error(`3: data of ${asOf} was sent where data of ${this.shown.asOf} is shown`);
    }
    this.shown = { text, asOf };
  }

  /** The response says that it was accepted. */
  confirm(now: number): void {
    const piece = this.sending!;
    const { text, asOf } = piece;
    this.belief = { text, asOf, certain: true, tried: Math.max(asOf, this.belief!.tried), at: now };
    if (this.answeredBefore === undefined) delete piece.unansweredAt;
    else piece.unansweredAt = this.answeredBefore;
    piece.open = false;
    piece.isAdrift = false;
    if (['owed', 'superseded', 'dead'].includes(piece.state)) piece.state = 'delivered';
  }

  /** Whether newer data is known to be shown or in transit, so that a decision for this payload comes too late. */
  isLate(piece: Piece): boolean {
    const isShown = this.belief?.certain === true && this.belief.asOf > piece.asOf;
    return isShown || (this.owed?.asOf ?? 0) > piece.asOf;
  }

  /** What a rollback would restore: the newest data that is older than the current data. */
  former(): Piece | undefined {
    const present = this.pieces.findLast(({ state }) => state === 'owed' || state === 'delivered');
    return this.pieces
      .filter(({ state, asOf, gone }) => state === 'delivered' && gone === undefined && asOf < (present?.asOf ?? 0))
      .sort((a, b) => b.asOf - a.asOf || b.id - a.id)[0];
  }
}
