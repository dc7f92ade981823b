import { brokenProtocol } from './broken-protocol.ts';

/** The number of a text, in which infinity has several spellings. */
export function floatOf(text: string): number {
  const number = Number(text.replace(/inf$/i, 'Infinity'));
  if (Number.isNaN(number) && text.toLowerCase() !== 'nan') throw brokenProtocol('a number that cannot be read', text);
  return number;
}
