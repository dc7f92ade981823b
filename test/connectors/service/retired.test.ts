import { expect, it } from 'vitest';
import { defineRetiredService } from '../../../src/sdk/index.ts';
import { contextOf } from '../harness.ts';

it('reports when and why a service was shut down, and what replaces it', async () => {
  const gone = defineRetiredService({
    id: 'acme',
    title: 'Acme',
    summary: 'Read the orders of Acme.',
    gone: 'Acme switched its API off on 1 May 2024.',
    instead: 'Use the connector "initech".',
  });
  const context = contextOf(gone, { source: {}, query: {}, folder: '/' });
  const problem = {
    code: 'SERVICE_RETIRED',
    family: 'config',
    message: 'Acme is discontinued: Acme switched its API off on 1 May 2024',
    next: 'use the connector "initech"',
  };
  await expect(gone.check(context)).rejects.toMatchObject(problem);
  await expect(gone.extract(context)).rejects.toMatchObject(problem);
  expect(gone.retired).toContain('1 May 2024');
});
