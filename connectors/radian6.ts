import { defineRetiredService } from '#sdk';

/**
 * Discontinued: only the name remains. Its last day is confirmed; the alternatives are unconfirmed general knowledge.
 */
export default defineRetiredService({
  id: 'radian6',
  title: 'Radian6 (Social Studio)',
  summary: 'Read social media posts about a topic.',
  gone: 'It became part of Salesforce Social Studio, which Salesforce retired on 18 November 2024, together with its API.',
  instead: 'Alternatives are Brandwatch and Sprinklr, which have different APIs: read them with simple_rest.',
});
