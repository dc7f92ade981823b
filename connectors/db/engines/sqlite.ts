import type { DatabaseEngine } from '../database-engine.ts';

export const sqlite: DatabaseEngine = {
  title: 'SQLite',
  schemes: [],
  port: 0,
  parameters: {},
  exampleTable: 'main.orders',
  hasRawTexts: true,
};
