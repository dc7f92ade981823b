/** The upload formats, each with a function that creates a document of approximately the given size. */
export const formats = ['csv', 'json', 'xml'] as const;
export type Format = (typeof formats)[number];

const names = ['Zoë Müller', 'Björn Holm', "Kari O'Neill", 'Łucja Nowak', '佐藤 花'];

/** Rows with four columns that contain UTF-8, quotes and markup. Stops at the given size in bytes. */
export function documentOf(format: Format, bytes: number): Buffer {
  const { head, row, between, tail } = shapes[format];
  const parts: string[] = [head];
  let written = 0;
  for (let i = 0; written < bytes; i++) {
    const text = (i === 0 ? '' : between) + row(i);
    parts.push(text);
    written += Buffer.byteLength(text);
  }
  return Buffer.from(`${parts.join('')}${tail}`);
}

interface Shape {
  readonly head: string;
  readonly row: (i: number) => string;
  readonly between: string;
  readonly tail: string;
}

const customer = (i: number): string => names[i % names.length]!;
const amount = (i: number): string => (((i * 7919) % 1_000_000) / 100).toFixed(2);

const shapes: Record<Format, Shape> = {
  csv: {
    head: 'id,customer,amount,note\n',
    row: (i) => `${i},${customer(i)},${amount(i)},${i % 3 === 0 ? '' : `"said ""today"", case ${i}"`}\n`,
    between: '',
    tail: '',
  },
  json: {
    head: '[\n',
    row: (i) => JSON.stringify({ id: i, customer: customer(i), amount: amount(i), note: i % 3 ? `said "${i}"` : null }),
    between: ',\n',
    tail: '\n]',
  },
  xml: {
    head: '<?xml version="1.0" encoding="UTF-8"?>\n<rows>\n',
    row: (i) =>
      `<row><id>${i}</id><customer>${customer(i).replace("'", '&apos;')}</customer><amount>${amount(i)}</amount><note>a &lt; b &amp; ${i}</note></row>\n`,
    between: '',
    tail: '</rows>\n',
  },
};
