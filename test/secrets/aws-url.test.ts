import { expect, it } from 'vitest';
import { awsUrl } from '../../src/secrets/aws-url.ts';

it('the URL of an AWS service has the domain of its region', () => {
  expect(awsUrl('sts', 'eu-central-1')).toBe('https://sts.eu-central-1.amazonaws.com');
  expect(awsUrl('sts', 'cn-north-1')).toBe('https://sts.cn-north-1.amazonaws.com.cn');
});
