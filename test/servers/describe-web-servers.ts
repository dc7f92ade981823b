import { describe } from 'vitest';
import { hasAuthlib } from './authlib.ts';
import { reportMissing } from './describe.ts';
import { hasHapiFhir } from './fhir.ts';
import { hasGoHttpbin } from './go-httpbin.ts';
import { hasNpm } from './npm-project.ts';
import { hasPocketBase } from './pocketbase.ts';
import { hasPrometheus } from './prometheus.ts';
import { hasVenv } from './python-venv.ts';
import { hasStripeMock } from './stripe-mock.ts';

const kinds = {
  'go-httpbin': { isInstalled: hasGoHttpbin, packages: 'golang' },
  'stripe-mock': { isInstalled: hasStripeMock, packages: 'golang' },
  CAP: { isInstalled: hasNpm, packages: 'npm' },
  'json-server': { isInstalled: hasNpm, packages: 'npm' },
  'node-soap': { isInstalled: hasNpm, packages: 'npm' },
  'jsonapi-server': { isInstalled: hasNpm, packages: 'npm' },
  'pouchdb-server': { isInstalled: hasNpm, packages: 'npm' },
  'HAPI FHIR': { isInstalled: hasHapiFhir, packages: 'maven default-jdk-headless' },
  PocketBase: { isInstalled: hasPocketBase, packages: 'golang' },
  Prometheus: { isInstalled: hasPrometheus, packages: 'prometheus' },
  moto: { isInstalled: hasVenv, packages: 'python3-venv' },
  'scim2-server': { isInstalled: hasVenv, packages: 'python3-venv' },
  Spyne: { isInstalled: hasVenv, packages: 'python3-venv' },
  FastAPI: { isInstalled: hasVenv, packages: 'python3-venv' },
  Authlib: { isInstalled: hasAuthlib, packages: 'python3-venv' },
};

/** A `describe` for a web server from a registry. If the machine can't run it, the suite reports what it didn't run. */
export function describeWithWebServer(kind: keyof typeof kinds, title: string, body: () => void): void {
  const { isInstalled, packages } = kinds[kind];
  if (isInstalled()) describe(title, body);
  else reportMissing(title, [kind], packages);
}
