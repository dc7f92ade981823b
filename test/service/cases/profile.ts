import type { Cases } from '../case.ts';

const cases: Cases = {
  'GET /profile': {
    query: 'full=true',
    bad: [
      { query: 'full=yes', field: 'full' },
      { query: 'full=1', field: 'full' },
    ],
  },
};
export default cases;
