import type { Problem } from '../../lib/problem.ts';
import { jsonOutput, problemJson } from '../output/json-output.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';

/** The JSON document for a sync that failed before it had any results. The error message is still written to stderr. */
export function failureDocument(
  problem: Problem,
  { faults, code }: { readonly faults: readonly Problem[]; readonly code: number },
): string {
  const parts = { jobs: [], refused: [], faults: faults.map(problemJson), problem: problemJson(problem) };
  return `${sanitizeOutput(jsonOutput({ exit_code: code, ...parts }))}\n`;
}
