import { join } from 'node:path';
import { cached, fetchMavenProject } from './fetch.ts';
import { findProgram } from './server.ts';
import { startWebServer, type WebServer } from './web-server.ts';

const version = '7.6.1';
const sha256 = '31a423da25b9e867c20f4dfc3644e9dbd7e511efc435851ba825e3352a8a8afa';
const inJava = (file: string) => new URL(`java/${file}`, import.meta.url).pathname;

/** Java compiles the server's file when it starts, which needs a JDK. */
export const hasHapiFhir = (): boolean =>
  ['mvn', 'java', 'javac'].every((program) => findProgram(program) !== undefined);

/** HAPI FHIR with 47 patients at `/r4/Patient`. */
export async function startHapiFhir(): Promise<WebServer> {
  const jars = await cached(`hapi-fhir-${version}`, (folder) =>
    fetchMavenProject(inJava('fhir.xml'), { folder, sha256 }),
  );
  const args = (port: number) => ['-cp', join(jars, '*'), inJava('FhirServer.java'), String(port)];
  return startWebServer({ name: 'fhir', program: 'java', args });
}
