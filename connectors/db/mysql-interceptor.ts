import { brokenProtocol, otherColumns } from './broken-protocol.ts';
import { RowInterceptor, type RowInterceptorOptions } from './row-interceptor.ts';
import { blockBytes, type SpanBlock } from './span-block.ts';

const headerBytes = 4;
/** The length in a header when what it belongs to goes on in the packet behind it. */
const goesOn = 0xffffff;
const failure = 0xff;
const endOfRows = 0xfe;
/** A row begins like the end of the rows when its first cell is of 16 MB at least. */
const maxEndBytes = 8;

/**
 * Cuts the rows of one statement out of what MySQL or MariaDB sends on the text protocol, as spans over bytes; everything
 * else goes on to mysql2's parser. https://mariadb.com/kb/en/0-packet/ and
 * https://mariadb.com/kb/en/result-set-packets/#text-resultset-row
 */
export class MysqlInterceptor extends RowInterceptor {
  #block: SpanBlock | undefined;
  #width = 0;
  #isBeforeRows = false;
  #inRows = false;
  #isDropping = false;
  /** The number that the next packet among the rows must have; they go round from 0 to 255. */
  #number = 0;
  /** How many warnings the server has about the rows, as the packet behind them says. */
  warnings = 0;
  /** Packets that mysql2 did not see and does not count. */
  #hidden = 0;

  constructor(settings: Omit<RowInterceptorOptions, 'bytes'>) {
    super({ ...settings, bytes: Buffer.allocUnsafeSlow(blockBytes) });
  }

  /** Says where the rows go that come behind these columns and the one packet that ends them. */
  begin(block: SpanBlock, width: number): void {
    this.#block = block;
    this.#width = width;
    this.#isBeforeRows = true;
  }

  /** Drops everything from now on, until the connection ends. */
  drop(): void {
    this.#isDropping = true;
  }

  protected override parse(): void {
    while (!this.released && !this.#isDropping && (this.#inRows ? this.#cutRows() : this.#cutOther()));
    if (this.#isDropping) this.at = this.filled;
  }

  /** Hands a packet that is no row to mysql2; false when there is none. */
  #cutOther(): boolean {
    const { at, bytes } = this;
    const end = this.#endOfPacket(at);
    if (end > this.filled) return false;
    this.at = end;
    // mysql2 keeps packets of columns, and the memory here is used again.
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

  /** Takes all whole rows; false when nothing whole is behind them. */
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
    // The news that a server stops may come with any number.
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

  /** Takes a row that came in several packets, without the headers between; false when it is not whole. */
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
    // How long a row of many packets will be is known only from its last one.
    const least = whole > goesOn ? Math.max(whole, 2 * left) : Math.max(whole, blockBytes);
    return this.#block?.renew(least) ?? Buffer.allocUnsafeSlow(least);
  }

  /** Where the packet ends that begins there, as far as its header has come. */
  #endOfPacket(at: number): number {
    return this.filled - at < headerBytes ? at + headerBytes : at + headerBytes + this.bytes.readUIntLE(at, 3);
  }

  /** Where the first message ends, as far as it is known. */
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
