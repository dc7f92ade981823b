import { ruleFields } from '../../faults/fault-rule.ts';
import type { FaultRuleState } from '../../faults/fault-rules.ts';
import { notFound } from '../../http/api-error.ts';
import { type ControlEndpoint, defineControl } from '../endpoint.ts';

function describe({ id, rule, seen, hits, takesEffect }: FaultRuleState): object {
  return { ...rule, id, takes_effect: takesEffect, seen, hits };
}

/** Fault rules. */
export default [
  defineControl({
    method: 'GET',
    path: '/faults',
    summary: 'Lists the rules in matching order, with the number of times that each rule was applied',
    do: ({ context }) => {
      const all = context.faults.all();
      return { data: { faults: all.map(describe), total: all.length } };
    },
  }),
  defineControl({
    method: 'POST',
    path: '/faults',
    summary: 'Adds a rule that defines which requests it matches and what happens to them',
    status: 201,
    body: ruleFields,
    do: ({ context, body }) => ({ data: describe(context.faults.one(context.faults.add(body))!) }),
  }),
  defineControl({
    method: 'GET',
    path: '/faults/{id}',
    summary: 'Shows a rule and how often it was applied',
    do: ({ context, params }) => {
      const found = context.faults.one(params.id!);
      if (found === undefined) throw notFound(`Fault not found: ${params.id}`);
      return { data: describe(found) };
    },
  }),
  defineControl({
    method: 'DELETE',
    path: '/faults/{id}',
    summary: 'Removes a rule, which still applies to requests that have already matched it',
    do: ({ context, params }) => {
      if (!context.faults.remove(params.id!)) throw notFound(`Fault not found: ${params.id}`);
      return { data: {} };
    },
  }),
  defineControl({
    method: 'DELETE',
    path: '/faults',
    summary: 'Removes all rules',
    do: ({ context }) => ({ data: { deleted: context.faults.clear() } }),
  }),
] satisfies readonly ControlEndpoint[];
