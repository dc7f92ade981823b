import { Type } from 'typebox';
import { findClient } from '../client-rules.ts';
import { defineEndpoint, type Resource } from '../endpoint.ts';
import { clientSettings, setClientSetting } from '../store/client-settings.ts';

const path = '/clients/{id}/settings';

export default {
  name: 'client-settings',
  summary: 'Settings of a client account',
  endpoints: [
    defineEndpoint({
      id: 'getClientSettings',
      method: 'GET',
      path,
      summary: 'The settings of a client that have been set',
      basis: 'decided',
      permission: ['client.access'],
      client: false,
      answer: { status: 200, data: Type.Record(Type.String(), Type.Unknown()) },
      find: (call) => findClient(call),
      do: ({ context }, client) => ({ data: clientSettings(context.db, client.id) }),
    }),
    defineEndpoint({
      id: 'setClientSettings',
      method: 'POST',
      path,
      summary: 'Sets settings, each by its name in the body; other settings are unchanged',
      basis: 'decided',
      decided: 'any name is accepted; null is ignored',
      missing: 'any effect of settings: they are stored and returned',
      permission: ['client.edit'],
      client: false,
      body: {},
      keepsUnknown: true,
      find: (call) => findClient(call),
      act: ({ context, json }, client) =>
        context.db.durably(() => {
          for (const [name, value] of Object.entries(json)) {
            if (value !== null) setClientSetting(context.db, client.id, name, value);
          }
        }),
    }),
  ],
} satisfies Resource;
