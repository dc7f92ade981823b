import { defineRetiredService } from '#sdk';

/** Known by name alone. The day of its end is confirmed; what others use is general knowledge. */
export default defineRetiredService({
  id: 'radian6',
  title: 'Radian6 (Social Studio)',
  summary: 'Read social media posts about a topic.',
  gone: 'Salesforce, who had made it a part of Social Studio, retired that on 18 November 2024, and its API went with it.',
  instead: 'Alternatives are Brandwatch or Sprinklr, which have other APIs: read them with simple_rest.',
});
