import { defineRetiredService } from '#sdk';

/**
 * The service was discontinued, so only the connector's name remains. The service's last day is confirmed; the
 * alternatives are unconfirmed general knowledge.
 */
export default defineRetiredService({
  id: 'radian6',
  title: 'Radian6 (Social Studio)',
  summary: 'Used to read social media posts about a topic.',
  gone: 'Salesforce retired Radian6, which had become part of Social Studio, and its API on 18 November 2024.',
  instead:
    'Alternatives are Brandwatch and Sprinklr; their APIs differ, so use the simple_rest connector to read them.',
});
