import { after, test } from 'node:test';
import { connectorKit } from 'sluice/sdk/testing';
import acme from './acme.mts';
import world from './acme.world.mts';

const kit = connectorKit(acme, world, { file: import.meta.resolve('./acme.mts') });
for (const { name, run } of kit.checks) test(name, run);
after(kit.close);
