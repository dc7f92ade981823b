import { expect, it } from 'vitest';
import { first } from '../../src/lib/four-bytes.ts';
import { endsRun, endsRunIn } from '../../src/sdk/records/json-tokens.ts';

it('the scan finds the first of four bytes that ends a run, whatever surrounds it', () => {
  const four = Buffer.alloc(4);
  for (const around of [0x20, 0x21, 0x23, 0x61, 0x7f, 0x80, 0xff, 0x22, 0x5c, 0x00]) {
    for (let byte = 0; byte < 256; byte++) {
      for (let place = 0; place < 4; place++) {
        four.fill(around);
        four[place] = byte;
        const found = endsRunIn(four.readInt32LE());
        const wanted = four.findIndex((each) => endsRun[each] === 1);
        expect(found === 0 ? -1 : first(found)).toBe(wanted);
      }
    }
  }
});
