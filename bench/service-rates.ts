import { request } from 'undici';
import { load } from './service-load.ts';
import { type Server, startServer } from './service-server.ts';
import { type Company, keyOf, type Person, people, seenBy, sourceId } from './service-world.ts';

/** One repeatedly requested URL. */
interface Target {
  readonly name: string;
  readonly server: Server;
  readonly path: string;
  readonly company?: Company;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the response is correct. */
  readonly isRight: (answer: Answer) => boolean;
}

interface Answer {
  readonly meta?: { readonly count?: number; readonly total?: number };
  readonly data?: { readonly id?: string; readonly datasources?: readonly unknown[] };
  readonly hello?: string;
}

/** Requests per second and the server's CPU time per request, each as the median of all rounds. */
export interface Rate {
  readonly name: string;
  readonly perSecond: number;
  /** The server's CPU time per request, in microseconds. */
  readonly cpuMicroseconds: number;
}

export interface Rounds {
  readonly runs: number;
  readonly milliseconds: number;
}

interface Servers {
  readonly node: Server;
  readonly fastify: Server;
  readonly service: Server;
}

const connections = 20;
const pageItems = 25;

/**
 * Runs a warm-up round, then alternates between all servers, so that any other load on the machine affects all of them.
 */
export async function measureRates(folder: string, rounds: Rounds): Promise<Rate[]> {
  const [node, fastify, service] = await Promise.all([
    startServer('node', folder),
    startServer('fastify', folder),
    startServer('service', folder),
  ]);
  try {
    return await measureAll({ node, fastify, service }, rounds);
  } finally {
    await Promise.all([node.stop(), fastify.stop(), service.stop()]);
  }
}

async function measureAll(servers: Servers, { runs, milliseconds }: Rounds): Promise<Rate[]> {
  const targets = targetsOf(servers);
  const seen = new Map<Target, Asked[]>(targets.map((target) => [target, []]));
  const calls = { small: 0, large: 0 };
  for (let round = 0; round <= runs; round++) {
    for (const target of targets) {
      const asked = await ask(target, milliseconds);
      if (target.company !== undefined) calls[target.company] += asked.answers + 1;
      if (round > 0) seen.get(target)!.push(asked);
    }
  }
  for (const company of ['small', 'large'] as const) await assertCounted(servers.service, company, calls[company]);
  return targets.map((target) => ({
    name: target.name,
    perSecond: middle(seen.get(target)!.map(({ perSecond }) => perSecond)),
    cpuMicroseconds: middle(seen.get(target)!.map(({ cpuMicroseconds }) => cpuMicroseconds)),
  }));
}

function targetsOf({ node, fastify, service }: Servers): Target[] {
  const hello = ({ hello }: Answer): boolean => hello === 'world';
  return [
    { name: 'node:http hello', server: node, path: '/', headers: {}, isRight: hello },
    { name: 'Fastify hello', server: fastify, path: '/hello/1', headers: {}, isRight: hello },
    detailTarget(service),
    ...(Object.keys(people) as Person[]).flatMap((person) => [
      listTarget(service, 'small', person),
      listTarget(service, 'large', person),
    ]),
  ];
}

function detailTarget(server: Server): Target {
  const id = sourceId('large', 77_777);
  return {
    name: 'detail',
    server,
    path: `/datasources/${id}`,
    company: 'large',
    headers: { 'kf-api-key': keyOf('large', 'admin') },
    isRight: ({ data }) => data?.id === id,
  };
}

/** The name of this list's measurement in the results. */
export const listName = (company: Company, person: Person): string => `list ${company} ${person}`;

function listTarget(server: Server, company: Company, person: Person): Target {
  return {
    name: listName(company, person),
    server,
    path: '/datasources',
    company,
    headers: { 'kf-api-key': keyOf(company, person) },
    isRight: ({ meta, data }) =>
      meta?.count === pageItems && meta.total === seenBy(company, person) && data?.datasources?.length === pageItems,
  };
}

interface Asked {
  readonly answers: number;
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
}

async function ask({ name, server, path, headers, isRight }: Target, milliseconds: number): Promise<Asked> {
  const url = server.url + path;
  const first = await request(url, { headers });
  const body = Buffer.from(await first.body.arrayBuffer());
  if (first.statusCode !== 200 || !isRight(JSON.parse(body.toString()) as Answer)) {
    throw new Error(`${name}: wrong response: ${body.toString('utf8', 0, 500)}`);
  }
  const before = await server.cpu();
  const { perSecond, answers } = await load({ url, headers, body, milliseconds, connections });
  return { perSecond, answers, cpuMicroseconds: (((await server.cpu()) - before) / answers) * 1e6 };
}

/** The service must have counted all calls so far, including this one. */
async function assertCounted(service: Server, company: Company, calls: number): Promise<void> {
  const path = '/usage-overview/api-usage?start_date=0&end_date=4000000000';
  const answer = await request(service.url + path, { headers: { 'kf-api-key': keyOf(company, 'admin') } });
  const { data } = (await answer.body.json()) as { data: { overview: { api_usage: string }[] } };
  const counted = data.overview.reduce((sum, { api_usage }) => sum + Number(api_usage), 0);
  if (counted !== calls + 1) throw new Error(`${company}: ${calls + 1} calls were made and ${counted} counted`);
}

export function middle(figures: readonly number[]): number {
  return [...figures].sort((a, b) => a - b)[Math.floor(figures.length / 2)]!;
}
