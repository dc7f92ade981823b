import { dirname } from 'node:path';
import { makeFolder } from '../lib/make-folder.ts';
import { spoolProblem } from './spool-problem.ts';

/** Creates a run's scratch folder, if it doesn't exist yet, and returns its path. */
export function makeScratch(path: string): string {
  try {
    makeFolder(path, 0o700);
    return path;
  } catch (error) {
    throw spoolProblem(error, dirname(path));
  }
}
