/**
 * A row's format in a segment: an eight-byte header, the key and the version (both as sortable bytes), then the cells.
 * Cells of columns that were added later are absent.
 *
 * | bytes | content                                                                                 |
 * |-------|-----------------------------------------------------------------------------------------|
 * | 4     | size of the whole record                                                                |
 * | 2     | size of the key                                                                         |
 * | 2     | size of the version; the highest bit is set if the row is a deletion                    |
 * | 1 … 5 | before each cell: 0 for null, else its size plus one, or 252 and the size in four bytes |
 *
 * All numbers are little-endian.
 */
export const headBytes = 8;
export const maxKeyBytes = 0xffff;
export const maxVersionBytes = 0x7fff;
const deletion = 0x8000;
const longCell = 252;
/** Maximum size of a cell header. */
export const cellHeadBytes = 5;

/** A reference to a record in a buffer. */
export interface RecordRef {
  readonly buffer: Buffer;
  /** Offset of the record. */
  readonly start: number;
}

export interface RecordHead {
  readonly size: number;
  readonly key: number;
  readonly version: number;
  readonly isDeletion: boolean;
}

/** Writes a record header at `at`: the sizes in bytes, and whether the record is a deletion marker. */
export function writeHead(buffer: Buffer, at: number, { size, key, version, isDeletion }: RecordHead): void {
  buffer.writeUInt32LE(size, at);
  buffer.writeUInt16LE(key, at + 4);
  buffer.writeUInt16LE(version | (isDeletion ? deletion : 0), at + 6);
}

/** Size of the record at `at`, including its header. */
export function sizeAt(buffer: Buffer, at: number): number {
  return buffer[at]! + buffer[at + 1]! * 0x100 + buffer[at + 2]! * 0x10000 + buffer[at + 3]! * 0x1000000;
}

const keySize = (buffer: Buffer, at: number): number => buffer[at + 4]! + buffer[at + 5]! * 0x100;
const versionSize = (buffer: Buffer, at: number): number => buffer[at + 6]! + (buffer[at + 7]! & 0x7f) * 0x100;

/** Whether the record is a deletion marker. */
export function isDeletion({ buffer, start }: RecordRef): boolean {
  return buffer[start + 7]! >= 0x80;
}

/** Compares two records' keys bytewise. The result is negative, zero or positive. */
export function compareKeys(a: RecordRef, b: RecordRef): number {
  const [from, other] = [a.start + headBytes, b.start + headBytes];
  return a.buffer.compare(b.buffer, other, other + keySize(b.buffer, b.start), from, from + keySize(a.buffer, a.start));
}

/** Compares the versions bytewise; a record without a version sorts lowest. */
export function compareVersions(a: RecordRef, b: RecordRef): number {
  const from = a.start + headBytes + keySize(a.buffer, a.start);
  const other = b.start + headBytes + keySize(b.buffer, b.start);
  return a.buffer.compare(
    b.buffer,
    other,
    other + versionSize(b.buffer, b.start),
    from,
    from + versionSize(a.buffer, a.start),
  );
}

/** The key's first six bytes as a number, which is enough for most comparisons. */
export function keyPrefix({ buffer, start }: RecordRef): number {
  const size = keySize(buffer, start);
  const at = start + headBytes;
  if (size >= 6) return buffer.readUIntBE(at, 6);
  let prefix = 0;
  for (let i = 0; i < 6; i++) prefix = prefix * 256 + (i < size ? buffer[at + i]! : 0);
  return prefix;
}

/** Offset of a record's cells. */
export function cellsAt(buffer: Buffer, start: number): number {
  return start + headBytes + keySize(buffer, start) + versionSize(buffer, start);
}

/** Writes the header of a cell with this size, or of null (-1). Returns the offset of the cell's content. */
export function writeCellHead(buffer: Buffer, at: number, size: number): number {
  if (size < longCell - 1) {
    buffer[at] = size + 1;
    return at + 1;
  }
  buffer[at] = longCell;
  buffer.writeUInt32LE(size, at + 1);
  return at + cellHeadBytes;
}

/**
 * Finds a record's cells. Writes each cell's start and end, relative to `origin`, into `spans` from index `at` on; -1
 * for null and for absent cells.
 */
export function findCells(
  { buffer, start }: RecordRef,
  { spans, at, width, origin }: { spans: Int32Array; at: number; width: number; origin: number },
): void {
  const end = start + sizeAt(buffer, start);
  let p = cellsAt(buffer, start);
  for (let c = 0; c < width; c++, at += 2) {
    const head = p < end ? buffer[p++]! : 0;
    if (head === 0) {
      spans[at] = -1;
      spans[at + 1] = -1;
      continue;
    }
    let size = head - 1;
    if (head === longCell) {
      size = buffer.readUInt32LE(p);
      p += 4;
    }
    spans[at] = p - origin;
    p += size;
    spans[at + 1] = p - origin;
  }
}
