import { Type } from 'typebox';
import { findClient } from '../client-rules.ts';
import { defineEndpoint, type Resource } from '../endpoint.ts';
import { notFound } from '../http/api-error.ts';
import { propertiesGiven, textProperties } from '../property-map.ts';
import { clientProperties, dropClientProperty, setClientProperty } from '../store/clients.ts';

const path = '/clients/{id}/properties';

export default {
  name: 'client-properties',
  summary: 'Properties that a company stores for a client',
  endpoints: [
    defineEndpoint({
      id: 'getClientProperties',
      method: 'GET',
      path,
      summary: 'The properties of a client',
      basis: 'decided',
      permission: ['client.access'],
      client: false,
      answer: { status: 200, data: Type.Object({ properties: Type.Record(Type.String(), Type.String()) }) },
      find: (call) => findClient(call),
      do: ({ context }, client) => ({ data: { properties: clientProperties(context.db, client.id) } }),
    }),
    defineEndpoint({
      id: 'setClientProperties',
      method: 'PUT',
      path,
      summary: 'Sets properties; other properties are unchanged',
      basis: 'decided',
      permission: ['client.edit'],
      client: false,
      body: { properties: textProperties },
      find: (call) => findClient(call),
      act: ({ context, body }, client) => {
        const given = propertiesGiven(body.properties);
        context.db.durably(() => {
          for (const { name, value } of given) setClientProperty(context.db, client.id, name, value);
        });
      },
    }),
    defineEndpoint({
      id: 'deleteClientProperty',
      method: 'DELETE',
      path,
      summary: 'Removes one property',
      basis: 'decided',
      permission: ['client.edit'],
      client: false,
      query: { name: Type.String({ minLength: 1 }) },
      find: (call) => findClient(call),
      act: ({ context, query }, client) => {
        const found = context.db.durably(() => dropClientProperty(context.db, client.id, query.name));
        if (!found) throw notFound(`The client has no property "${query.name}"`);
      },
    }),
  ],
} satisfies Resource;
