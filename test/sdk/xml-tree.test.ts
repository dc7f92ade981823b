import { expect, test } from 'vitest';
import { parseXml } from '../../src/sdk/service/xml-tree.ts';

test('prefixes are dropped, and all values stay text in their original order', () => {
  const text = `<s:Envelope xmlns:s="urn:s"><s:Body n:id="007" xmlns:n="urn:n"><row><a>1.50</a><n:b> x </n:b></row>
<row><a><![CDATA[<1> & ]]>2</a><b s:nil="true"/></row>note</s:Body></s:Envelope>`;
  expect(parseXml(text)).toEqual({
    Envelope: {
      Body: {
        '@id': '007',
        row: [
          { a: '1.50', b: ' x ' },
          { a: '<1> & 2', b: null },
        ],
        '#text': '\nnote',
      },
    },
  });
});

test('an entity bomb is rejected at its first reference', () => {
  const entities = Array.from({ length: 10 }, (_, i) => `<!ENTITY e${i + 1} "${`&e${i};`.repeat(10)}">`).join('');
  const bomb = `<!DOCTYPE r [<!ENTITY e0 "ha">${entities}]><r>&e10;</r>`;
  expect(() => parseXml(bomb)).toThrow(/undefined entity/);
});

test('elements may be nested 256 deep', () => {
  const deep = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth);
  expect(() => parseXml(deep(256))).not.toThrow();
  expect(() => parseXml(`\n${deep(257)}`)).toThrow('2:771: element a is nested more than 256 levels deep');
});
