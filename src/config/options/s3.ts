import { option } from '../../sdk/option.ts';

/** Options of the object store for payloads. */
export const s3Options = {
  endpoint: option.text({
    about: "The store's URL. Default: AWS's URL for the region.",
    pattern: '^https?://[^/?#@]+(/[^?#]*)?$',
    example: 'https://minio.example.com:9000',
  }),
  region: option.text({
    about: 'The region. Many stores other than AWS accept any region.',
    default: 'us-east-1',
    pattern: '^[\\w-]+$',
  }),
  access_key_id: option.text({
    about:
      'The ID of the access key. Default: credentials from the environment, a web identity, or the role of the container or machine, as in [secrets.md](secrets.md#aws-secrets-manager).',
  }),
  secret_access_key: option.text({ secret: true, about: 'The secret of the access key.' }),
  path_style: option.schema<boolean | undefined>(
    { type: 'boolean' },
    {
      about:
        "Whether URLs contain the bucket's name in their path instead of in their host name. Default: true if `endpoint` is set.",
    },
  ),
};
