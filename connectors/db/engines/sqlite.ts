import type { DatabaseEngine } from '../database-engine.ts';

export const sqlite: DatabaseEngine = {
  title: 'SQLite',
  schemes: [],
  port: 0,
  isFile: true,
  parameters: {},
  exampleTable: 'main.orders',
  hasRawTexts: true,
};
