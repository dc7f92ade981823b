import { dirname, resolve } from 'node:path';
import { readDocument } from '../config/document.ts';
import { Faults } from '../config/faults.ts';
import { readText } from '../config/load.ts';
import { readTop } from '../config/load-top.ts';
import { Problem } from '../lib/problem.ts';

/**
 * Where a config keeps its state, and nothing else of it: commands that look after the folder work beside a config that
 * has faults further down. Throws the first fault of the file itself.
 */
export async function stateFolderOf(file: string): Promise<string> {
  const text = await readText(file);
  if (text instanceof Problem) throw text;
  const document = readDocument(file, text);
  const faults = new Faults(document);
  const top = await readTop(document, { env: process.env, folder: dirname(resolve(file)), faults });
  const [fault] = [...document.problems, ...faults.problems];
  if (fault !== undefined) throw fault;
  return top.state;
}
