/** An example of a call, recorded from the service. */
export interface RecordedExample {
  readonly request?: unknown;
  readonly response?: unknown;
}

/** Examples by operation ID. */
export type Examples = Readonly<Record<string, RecordedExample>>;

/** Reads the recorded examples. They're loaded on first use, because only readers of the document need them. */
export async function loadExamples(): Promise<Examples> {
  return (await import('./examples.generated.json', { with: { type: 'json' } })).default;
}
