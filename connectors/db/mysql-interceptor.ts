import { brokenProtocol, otherColumns } from './broken-protocol.ts';
import { RowInterceptor, type RowInterceptorOptions } from './row-interceptor.ts';
import { blockBytes, type SpanBlock } from './span-block.ts';

const headerBytes = 4;
/** The length in a packet's header if the payload continues in the next packet. */
const goesOn = 0xffffff;
const failure = 0xff;
const endOfRows = 0xfe;
/** A row whose first cell has 16 MB or more starts with the same byte as the end-of-rows packet. */
const maxEndBytes = 8;

/**
 * Intercepts the rows of one statement in the text protocol of MySQL and MariaDB, and returns them as spans over bytes.
 * Forwards all other packets to mysql2's parser. https://mariadb.com/kb/en/0-packet/ and
 * https://mariadb.com/kb/en/result-set-packets/#text-resultset-row
 */
export class MysqlInterceptor extends RowInterceptor {
  #block: SpanBlock | undefined;
  #width = 0;
  #isBeforeRows = false;
  #inRows = false;
  #isDropping = false;
  /** Expected sequence number of the next row packet. After 255, it wraps around to 0. */
  #number = 0;
  /** The warning count from the packet after the rows. */
  warnings = 0;
  /** Number of intercepted packets, which mysql2 didn't see and therefore didn't count. */
  #hidden = 0;

  constructor(settings: Omit<RowInterceptorOptions, 'bytes'>) {
    super({ ...settings, bytes: Buffer.allocUnsafeSlow(blockBytes) });
  }

  /** Sets the receiver for the rows that follow the column packets and the packet that ends them. */
  begin(block: SpanBlock, width: number): void {
    this.#block = block;
    this.#width = width;
    this.#isBeforeRows = true;
  }

  /** Drops all data until the connection is closed. */
  drop(): void {
    this.#isDropping = true;
  }

  protected override parse(): void {
    while (!this.released && !this.#isDropping && (this.#inRows ? this.#cutRows() : this.#cutOther()));
    if (this.#isDropping) this.at = this.filled;
  }

  /** Forwards one packet that isn't a row to mysql2. Returns false if there is no packet. */
  #cutOther(): boolean {
    const { at, bytes } = this;
    const end = this.#endOfPacket(at);
    if (end > this.filled) return false;
    this.at = end;
    // The packet is copied, because mysql2 keeps column packets, and this memory will be reused.
    const packet = Buffer.from(bytes.subarray(at, end));
    packet[3]! -= this.#hidden;
    if (this.#isBeforeRows) this.#enterRows(bytes[at + 3]!);
    this.forward(packet);
    return true;
  }

  #enterRows(number: number): void {
    this.#isBeforeRows = false;
    this.#inRows = true;
    this.#number = (number + 1) & 0xff;
    this.moveTo(this.newBlock());
  }

  /** Takes all complete rows. Returns false if no complete packet follows. */
  #cutRows(): boolean {
    const { bytes, filled } = this;
    const block = this.#block!;
    while (filled - this.at >= headerBytes) {
      const at = this.at;
      const length = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16);
      const start = at + headerBytes;
      const end = start + length;
      if (end > filled) return false;
      const first = bytes[start]!;
      if (first >= endOfRows && length > 0 && (first === failure || length <= maxEndBytes)) {
        this.#leaveRows(first);
        return true;
      }
      if (length === goesOn) {
        if (!this.#takeLong()) return false;
      } else {
        this.#count(at);
        this.#take(start, end);
        this.at = end;
      }
      if (block.isFull) block.flush(bytes, this.at);
    }
    return false;
  }

  #leaveRows(first: number): void {
    this.#inRows = false;
    // If the server is shutting down, its error packet may have an arbitrary sequence number.
    if (first === failure) return;
    this.#checkNumber(this.at);
    this.warnings = this.bytes.readUInt16LE(this.at + headerBytes + 1);
    this.#block!.flush(this.bytes, this.at);
  }

  #count(at: number): void {
    this.#checkNumber(at);
    this.#number = (this.#number + 1) & 0xff;
    this.#hidden++;
  }

  #checkNumber(at: number): void {
    if (this.bytes[at + 3] !== this.#number) throw brokenProtocol('packets out of order');
  }

  /** Joins the packets of a split row. Returns false if the row is incomplete. */
  #takeLong(): boolean {
    const { bytes, at } = this;
    if (this.#endOfMessage() > this.filled) return false;
    const start = at + headerBytes;
    let end = start;
    let length = goesOn;
    for (let next = at; length === goesOn; this.at = next) {
      this.#count(next);
      length = bytes.readUIntLE(next, 3);
      const part = next + headerBytes;
      next = part + length;
      bytes.copyWithin(end, part, next);
      end += length;
    }
    this.#take(start, end);
    return true;
  }

  /** Cells are length-encoded strings. https://mariadb.com/kb/en/protocol-data-types/#length-encoded-strings */
  #take(p: number, end: number): void {
    const b = this.bytes;
    const block = this.#block!;
    const { spans } = block;
    const width = this.#width;
    let s = 2 * width * block.rows;
    for (let i = 0; i < width; i++) {
      let length = b[p++]!;
      if (length === 0xfb) {
        spans[s++] = -1;
        spans[s++] = -1;
        continue;
      }
      if (length === 0xfc) {
        length = b[p]! | (b[p + 1]! << 8);
        p += 2;
      } else if (length === 0xfd) {
        length = b[p]! | (b[p + 1]! << 8) | (b[p + 2]! << 16);
        p += 3;
      } else if (length === 0xfe) {
        length = b.readUIntLE(p, 6);
        p += 8;
      }
      spans[s++] = p;
      p += length;
      spans[s++] = p;
    }
    if (p !== end) throw otherColumns();
    block.rows++;
  }

  protected override newBlock(): Buffer {
    if (this.#isDropping) return this.bytes;
    this.#block?.flush(this.bytes, this.at);
    const left = this.filled - this.at;
    const whole = this.#endOfMessage() - this.at;
    // Only a split row's last packet reveals the length of the row.
    const minBytes = whole > goesOn ? Math.max(whole, 2 * left) : Math.max(whole, blockBytes);
    return this.#block?.renew(minBytes) ?? Buffer.allocUnsafeSlow(minBytes);
  }

  /** End of the packet that starts at this position. If its header is incomplete, the end of the header. */
  #endOfPacket(at: number): number {
    return this.filled - at < headerBytes ? at + headerBytes : at + headerBytes + this.bytes.readUIntLE(at, 3);
  }

  /** End of the first message. If the message is incomplete, the result is beyond the bytes that have arrived. */
  #endOfMessage(): number {
    let end = this.at;
    let isLast = false;
    while (!isLast && end <= this.filled) {
      const next = this.#endOfPacket(end);
      isLast = next - end < headerBytes + goesOn;
      end = next;
    }
    return end;
  }
}
