import { defineRetiredService } from '#sdk';

/** Discontinued: only the name is kept. Its last day is confirmed; the alternatives are general knowledge. */
export default defineRetiredService({
  id: 'radian6',
  title: 'Radian6 (Social Studio)',
  summary: 'Read social media posts about a topic.',
  gone: 'Salesforce, who had made it a part of Social Studio, retired that on 18 November 2024, and its API went with it.',
  instead: 'Alternatives are Brandwatch or Sprinklr, which have other APIs: read them with simple_rest.',
});
