import { Type } from 'typebox';
import { findClient } from '../client-rules.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { listResult, pageOf, pageQuery } from '../http/page.ts';
import { defineModel } from '../model.ts';
import { type ClientAccount, type FeatureName, featureNames, featuresOff, switchFeature } from '../store/clients.ts';

const path = '/clients/{id}/features';

const displayNames = {
  theming: 'Custom Theme',
  domain_cloaking: 'SSL Domain Alias',
  published_dashboards: 'Private Links',
  downloadable_reports: 'Download Reports',
  scheduled_emails: 'Email Reports',
  sso: 'SSO',
  embeds: 'Embeds',
  public_dashboards: 'Public Links',
} as const satisfies Readonly<Record<FeatureName, string>>;

/** Each feature by both of its names. Clients write back what they read. */
const featuresByName = new Map<string, FeatureName>(featureNames.map((name) => [name, name]));
for (const name of featureNames) {
  // Generators make constants of the names, so the names must differ in more than the case of letters.
  if (displayNames[name].toLowerCase() !== name) featuresByName.set(displayNames[name], name);
}

const featureSwitch = defineModel('FeatureSwitch', {
  name: Type.Enum([...featuresByName.keys()], { 'x-any-case': true }),
  enabled: Type.Boolean(),
});

const feature = defineModel('ClientFeature', {
  name: Type.Enum(featureNames),
  display_name: Type.String(),
  enabled: Type.Boolean(),
});

function describe({ context }: Pick<ApiCall, 'context'>, client: ClientAccount): object[] {
  const off = featuresOff(context.db, client.id);
  return featureNames.map((name) => ({ name, display_name: displayNames[name], enabled: !off.has(name) }));
}

export default {
  name: 'client-features',
  summary: 'The features of a client',
  endpoints: [
    defineEndpoint({
      id: 'listClientFeatures',
      method: 'GET',
      path,
      summary: 'All features, and whether each is enabled',
      basis: 'decided',
      permission: ['client.access'],
      client: false,
      query: pageQuery,
      answer: { status: 200, data: Type.Object({ features: Type.Array(feature) }) },
      find: (call) => findClient(call),
      do: (call, client) => listResult('features', pageOf(describe(call, client), call.query)),
    }),
    defineEndpoint({
      id: 'setClientFeatures',
      method: 'PUT',
      path,
      summary: 'Turns features on or off; other features are unchanged',
      basis: 'decided',
      missing: 'all features except the two for published dashboards are stored and returned, but have no effect',
      permission: ['client.edit'],
      client: false,
      body: { features: Type.Array(featureSwitch) },
      find: (call) => findClient(call),
      act: ({ context, body }, client) =>
        context.db.durably(() => {
          for (const { name, enabled } of body.features) {
            switchFeature(context.db, client.id, featuresByName.get(name)!, enabled);
          }
        }),
    }),
  ],
} satisfies Resource;
