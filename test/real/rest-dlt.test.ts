import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { restBench } from '../connectors/simple_rest/rig.ts';
import { reportMissing } from '../servers/describe.ts';
import { hasVenv, venvOf } from '../servers/python-venv.ts';
import { type Habit, habits } from './habits.ts';
import { serveHabits } from './habits-server.ts';

const title = 'the table of habits in docs/neighbours.md';
const script = new URL('../servers/python/dlt_rest.py', import.meta.url).pathname;
const page = new URL('../../docs/neighbours.md', import.meta.url);

type Outcome = readonly string[] | 'an error';
type Answer = { readonly rows: readonly Record<string, unknown>[] } | { readonly error: string };

if (!hasVenv()) reportMissing(title, ['Python with venv'], 'python3-venv');
else
  describe(title, () => {
    const { server, extract, folder } = restBench();

    async function withSluice({ query, source, runs = 1, wanted }: Habit): Promise<Outcome> {
      try {
        let watermark: string | undefined;
        let outcome: readonly string[] = [];
        for (let run = 0; run < runs; run++) {
          const read = await extract(query, source, watermark === undefined ? {} : { watermark });
          const at = read.columns.findIndex(({ name }) => name === 'id');
          outcome = read.rows.map((row) => String(row[at]));
          watermark = read.watermark;
        }
        return outcome;
      } catch (error) {
        if (wanted !== 'an error') throw error;
        return 'an error';
      }
    }

    async function withDlt(cases: readonly Habit[]): Promise<Outcome[]> {
      const program = join(await venvOf('dlt'), 'bin/python3');
      const env = {
        ...process.env,
        DLT_DATA_DIR: folder,
        RUNTIME__DLTHUB_TELEMETRY: 'false',
        RUNTIME__LOG_LEVEL: 'CRITICAL',
      };
      const child = spawn(program, ['-W', 'ignore', script], { env, stdio: ['pipe', 'pipe', 'inherit'] });
      child.stdin.end(JSON.stringify(cases.map(caseOf)));
      const [printed] = await Promise.all([text(child.stdout), once(child, 'close')]);
      return (JSON.parse(printed) as Answer[]).map((answer) => {
        if ('error' in answer) return 'an error';
        return answer.rows.map(({ id }) => String(id));
      });
    }

    const caseOf = ({ resource, client, parents = [], runs = 1 }: Habit) => ({
      seconds: 15,
      runs,
      config: {
        client: { base_url: `${server.url}/`, ...client },
        resources: [...parents, { name: 'rows', ...resource }],
      },
    });

    it('says what both tools do with servers that have these habits', { timeout: 900_000 }, async () => {
      serveHabits(server);
      const outcomes: Outcome[] = [];
      for (const habit of habits) outcomes.push(await withSluice(habit));
      expect(outcomes).toEqual(habits.map(({ wanted }) => wanted));
      const tried = habits.filter(({ resource }) => resource !== undefined);
      const byDlt = new Map((await withDlt(tried)).map((outcome, i) => [tried[i], outcome]));
      const rows = habits.map((habit) => {
        const outcome = byDlt.get(habit);
        const isRight = JSON.stringify(outcome) === JSON.stringify(habit.wanted);
        return `| ${habit.title} | yes | ${isRight ? 'yes' : 'no'} |`;
      });
      const written = (await readFile(page, 'utf8')).split('\n');
      expect(rows.filter((row) => !written.includes(row))).toEqual([]);
    });
  });
