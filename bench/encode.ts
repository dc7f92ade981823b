/**
 * `node bench/encode.ts [csv|json|xml]`: measures encoding and checking alone, in memory. Encodes a million rows of six
 * columns to each format, once from bytes and once from values. Prints medians of five runs.
 */
import { formats } from '../src/formats/index.ts';
import { Output } from '../src/formats/output.ts';
import type { Batch, Value } from '../src/sdk/batch.ts';
import { batchOf } from '../src/sdk/batch.ts';
import type { Column } from '../src/sdk/column.ts';
import { withDefaults } from '../src/sdk/option.ts';
import { formatIds } from '../src/service/store/datasources.ts';
import { checkerOf } from '../src/service/uploads/checkers.ts';

const columns: readonly Column[] = [
  { name: 'id', type: 'integer' },
  { name: 'customer', type: 'text' },
  { name: 'country', type: 'text' },
  { name: 'amount', type: 'decimal' },
  { name: 'created_at', type: 'timestamptz' },
  { name: 'note', type: 'text' },
];
const rowsPerBatch = 1000;
const distinctBatches = 50;
const rounds = 20;

/** Pseudorandom numbers that are the same in every run, from the LCG in Numerical Recipes. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const names = ['Anna', 'Björn', 'Carlos', 'Élodie', 'George', 'Łukasz', 'Maria', 'Nguyễn', 'Olivia', 'Søren'];
const families = ['Müller', 'Smith', 'García', "O'Brien", 'Tanaka', 'Jones', 'Novák', 'Silva', 'Yılmaz', 'Brown'];
const countries = ['DE', 'US', 'ES', 'RU', 'FR', 'JP', 'PL', 'GB'];

function note(share: number, id: number): string | null {
  if (share < 0.35) return null;
  if (share < 0.65) return `Standard delivery to warehouse no ${id % 977}`;
  if (share < 0.75) return `Deliver before noon, ring twice, floor ${id % 31}`;
  if (share < 0.83) return `Customer said "urgent", see ticket #${id} — priority "A"`;
  if (share < 0.88) return `Line one of the note\nSecond line; call +49 30 ${id}\nThird line`;
  if (share < 0.96) return `Übergabe an Nachbarn möglich; 配達は午後 — naïve café ✓ ${id % 100}`;
  const hash = (id * 2654435761).toString(16).padStart(32, '0');
  return `Refund <pending> & "review", amount > 100 €; code=${hash}, ${hash}`;
}

function orders(count: number): Value[][] {
  const random = numbers(42);
  const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)]!;
  return Array.from({ length: count }, (_, k) => {
    const id = 500_000 + k;
    const customer = `${pick(names)} ${pick(families)} ${Math.floor(random() * 9999)}`;
    const instant = new Date(1_704_067_200_000 + Math.floor(random() * 63_072_000_000)).toISOString().slice(0, -1);
    return [
      String(id),
      customer,
      pick(countries),
      (random() * 100_000).toFixed(2),
      `${instant}${String(k % 1000).padStart(3, '0')}+00:00`,
      note(random(), id),
    ];
  });
}

/** The rows in PostgreSQL's wire format: one message of length-prefixed fields per row, all in one buffer. */
function wireBatch(rows: readonly (readonly Value[])[]): Batch {
  const parts: Buffer[] = [];
  const spans = new Int32Array(rows.length * columns.length * 2);
  let at = 0;
  const add = (part: Buffer): number => {
    parts.push(part);
    at += part.length;
    return at;
  };
  rows.forEach((row, r) => {
    add(Buffer.alloc(7));
    row.forEach((value, c) => {
      const start = add(Buffer.alloc(4));
      const end = value === null ? start : add(Buffer.from(String(value)));
      spans.set(value === null ? [-1, -1] : [start, end], 2 * (r * columns.length + c));
    });
  });
  const bytes = Buffer.concat(parts);
  const cells = columns.map((_, slot) => ({ kind: 'bytes' as const, bytes, spans, stride: columns.length, slot }));
  return { columns, cells, length: rows.length };
}

const all = orders(distinctBatches * rowsPerBatch);
const slices = Array.from({ length: distinctBatches }, (_, b) => all.slice(b * rowsPerBatch, (b + 1) * rowsPerBatch));
const inputs: Record<string, readonly Batch[]> = {
  bytes: slices.map(wireBatch),
  values: slices.map((rows) => batchOf(columns, rows)),
};

const median = (figures: readonly number[]): number => [...figures].sort((a, b) => a - b)[figures.length >> 1]!;
const wanted = process.argv[2];

for (const format of formats.filter(({ id }) => wanted === undefined || id === wanted)) {
  const uploadFormat = formatIds.find((id) => id === format.id);
  for (const [kind, batches] of Object.entries(inputs)) {
    const encodings: number[] = [];
    const checkings: number[] = [];
    let bytes = 0;
    for (let run = 0; run < 5; run++) {
      const encoder = format.encoder(columns, withDefaults(format.options, {}));
      const checker = uploadFormat === undefined ? undefined : checkerOf(uploadFormat);
      const out = new Output();
      let encoding = 0;
      let checking = 0;
      bytes = 0;
      const drain = (last: boolean): void => {
        for (const piece of out.take(last)) {
          bytes += piece.length;
          const started = performance.now();
          if (kind === 'bytes') checker?.write(piece);
          checking += performance.now() - started;
          out.recycle(piece);
        }
      };
      encoder.begin(out);
      for (let round = 0; round < rounds; round++) {
        for (const batch of batches) {
          const started = performance.now();
          encoder.batch(batch, out);
          encoding += performance.now() - started;
          drain(false);
        }
      }
      encoder.end(out);
      drain(true);
      if (kind === 'bytes') checker?.end();
      encodings.push(encoding);
      checkings.push(checking);
    }
    const megabytes = bytes / 1e6;
    const encoded = `${format.id} from ${kind}: ${median(encodings).toFixed(0)} ms for ${megabytes.toFixed(0)} MB`;
    const checked =
      kind === 'bytes' && uploadFormat !== undefined
        ? `, checked at ${((megabytes / median(checkings)) * 1000).toFixed(0)} MB/s`
        : '';
    process.stdout.write(`${encoded}${checked}\n`);
  }
}
