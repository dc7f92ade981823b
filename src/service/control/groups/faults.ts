import { ruleFields } from '../../faults/fault-rule.ts';
import type { FaultRuleState } from '../../faults/fault-rules.ts';
import { notFound } from '../../http/api-error.ts';
import { type ControlEndpoint, defineControl } from '../endpoint.ts';

function describe({ id, rule, seen, hits, takesEffect }: FaultRuleState): object {
  return { ...rule, id, takes_effect: takesEffect, seen, hits };
}

/** Faults by rule. */
const endpoints: readonly ControlEndpoint[] = [
  defineControl({
    method: 'GET',
    path: '/faults',
    summary: 'The rules, in the order in which they are asked, and how often each was played',
    do: ({ context }) => {
      const all = context.faults.all();
      return { data: { faults: all.map(describe), total: all.length } };
    },
  }),
  defineControl({
    method: 'POST',
    path: '/faults',
    summary: 'Adds a rule: which requests, which of them, what is done to those',
    status: 201,
    body: ruleFields,
    do: ({ context, body }) => ({ data: describe(context.faults.one(context.faults.add(body))!) }),
  }),
  defineControl({
    method: 'GET',
    path: '/faults/{id}',
    summary: 'One rule and how often it was played',
    do: ({ context, params }) => {
      const found = context.faults.one(params.id!);
      if (found === undefined) throw notFound(`Fault not found: ${params.id}`);
      return { data: describe(found) };
    },
  }),
  defineControl({
    method: 'DELETE',
    path: '/faults/{id}',
    summary: 'Takes a rule away; a request that has met it already is not spared',
    do: ({ context, params }) => {
      if (!context.faults.remove(params.id!)) throw notFound(`Fault not found: ${params.id}`);
      return { data: {} };
    },
  }),
  defineControl({
    method: 'DELETE',
    path: '/faults',
    summary: 'Takes all rules away',
    do: ({ context }) => ({ data: { deleted: context.faults.clear() } }),
  }),
];
export default endpoints;
