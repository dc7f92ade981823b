import { findProgram } from './server.ts';
import { startWebServer, type WebServer } from './web-server.ts';

const programs = ['prometheus', 'promtool'] as const;

export const hasPrometheus = (): boolean => programs.every((program) => findProgram(program) !== undefined);

/** Prometheus with these samples, in the OpenMetrics text format with timestamps. */
export async function startPrometheus(samples: string): Promise<WebServer> {
  const files = { 'samples.txt': `${samples}# EOF\n`, 'prometheus.yml': 'global: {}\n' };
  const store = 'promtool tsdb create-blocks-from openmetrics samples.txt data';
  const options = '--config.file=prometheus.yml --storage.tsdb.path=data --storage.tsdb.retention.time=100y';
  const start = `${store} && exec prometheus ${options} --web.listen-address="127.0.0.1:$1"`;
  const args = (port: number) => ['-c', start, 'sh', String(port)];
  return startWebServer({ name: 'prometheus', program: '/bin/sh', files, args });
}
