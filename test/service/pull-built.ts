import { resolve } from 'node:path';
import { inject } from 'vitest';
import { type PullOptions, pullWith } from '../../src/cli/pull.ts';
import type { Pull, PullRequest } from '../../src/service/refresh/pull.ts';

/** Refreshes as an installation does: the process runs the built package, which starts faster than the sources do. */
export const pullDatasource: Pull = (request) => pullWithin(undefined, request);

/** Like {@link pullDatasource}, with other limits. */
export function pullWithin(limits: PullOptions['limits'], request: PullRequest): ReturnType<Pull> {
  const entry = resolve(inject('door'), '../../../dist/src/cli/refresh/child.js');
  return pullWith({ entry, ...(limits && { limits }) }, request);
}
