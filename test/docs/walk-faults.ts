import type { Typed, Walk } from './machine.ts';
import { otherEnds } from './pages.ts';
import { shapeFault } from './shapes.ts';

/** What is wrong with a command: it failed or, if it wasn't run, its arguments are invalid. */
async function faultOf({ place, code, words }: Typed): Promise<string | undefined> {
  const line = words.join(' ');
  const said = (what: string) => `${place}: ${line}: ${what}`;
  if (code === undefined) {
    const fault = await shapeFault(words);
    return fault === undefined ? undefined : said(fault);
  }
  const allowed = [
    0,
    ...otherEnds.flatMap(({ words: known, code: other }) => (known.test(`${place}: ${line}`) ? [other] : [])),
  ];
  if (allowed.includes(code)) return undefined;
  return said(code === 127 ? 'unknown program: test/docs/machine.sh' : `ended with ${code}`);
}

/** What is wrong with the commands of a walk, followed by all output. Empty if nothing is wrong. */
export async function faultsOf({ typed, output, isWhole }: Walk): Promise<string[]> {
  const faults = (await Promise.all(typed.map(faultOf))).filter((fault) => fault !== undefined);
  if (!isWhole) faults.push('the shell did not reach the end of the page');
  return faults.length === 0 ? [] : [...faults, output];
}
