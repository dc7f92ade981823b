import { validateHeaderName, validateHeaderValue } from 'node:http';
import { type Static, type TObject, Type } from 'typebox';
import { badRequest } from '../http/api-error.ts';

const maxDelayMs = 600_000;
const milliseconds = Type.Integer({
  minimum: 0,
  maximum: maxDelayMs,
  'x-rule': `must be whole milliseconds, at most ${maxDelayMs}`,
});
const count = Type.Integer({ minimum: 1, maximum: 1_000_000_000, 'x-rule': 'must be a whole number, 1 or more' });
const closed = { additionalProperties: false };

export const resets = ['before_body', 'after_body', 'after_effect'] as const;

/** A fault rule: which requests it matches, how many of those it affects, and what it does to them. */
export const ruleFields = {
  id: Type.Optional(
    Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', 'x-rule': 'must be 1 to 64 letters, digits, - or _' }),
  ),
  method: Type.Optional(Type.String({ pattern: '^[A-Za-z]{1,20}$', 'x-rule': 'must be an HTTP method' })),
  path: Type.Optional(
    Type.String({ pattern: '^/', maxLength: 500, 'x-rule': 'must begin with / and have no more than 500 characters' }),
  ),
  nth: Type.Optional(count),
  every: Type.Optional(count),
  first: Type.Optional(count),
  probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1, 'x-rule': 'must be a number from 0 to 1' })),
  seed: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 4_294_967_295, 'x-rule': 'must be a whole number below 2^32' }),
  ),
  times: Type.Optional(count),
  delay_ms: Type.Optional(milliseconds),
  answer_delay_ms: Type.Optional(milliseconds),
  answer: Type.Optional(
    Type.Object(
      {
        status: Type.Integer({ minimum: 200, maximum: 599, 'x-rule': 'must be a status from 200 to 599' }),
        headers: Type.Optional(Type.Record(Type.String(), Type.String(), { 'x-rule': 'must map names to texts' })),
        body: Type.Optional(Type.Unknown()),
      },
      closed,
    ),
  ),
  reset: Type.Optional(Type.Enum(resets)),
  truncate: Type.Optional(
    Type.Object(
      { after_bytes: Type.Optional(Type.Integer({ minimum: 0, 'x-rule': 'must be a whole number, 0 or more' })) },
      closed,
    ),
  ),
  drip: Type.Optional(Type.Object({ bytes: count, every_ms: milliseconds }, closed)),
};

export type FaultRule = Static<TObject<typeof ruleFields>>;

const which = ['nth', 'every', 'first', 'probability'] as const;
const what = ['answer', 'reset', 'truncate', 'drip'] as const;

/** Checks constraints that the field schemas can't express. Throws an ApiError (400). */
export function checkRule(rule: FaultRule): void {
  atMostOne(rule, which);
  atMostOne(rule, what);
  if (rule.seed !== undefined && rule.probability === undefined)
    throw badRequest('Field "seed" requires "probability"');
  const delays = rule.delay_ms !== undefined || rule.answer_delay_ms !== undefined;
  if (!delays && what.every((name) => rule[name] === undefined)) {
    throw badRequest(
      `One of the fields that specify an action is required: ${what.join(', ')}, delay_ms, answer_delay_ms`,
    );
  }
  if (rule.answer_delay_ms !== undefined && !takesEffect(rule)) {
    throw badRequest(
      'Field "answer_delay_ms" requires a fault that lets the request take effect; use "delay_ms" instead',
    );
  }
  checkHeaders(rule.answer?.headers ?? {});
}

function atMostOne(rule: FaultRule, names: readonly (keyof FaultRule)[]): void {
  const given = names.filter((name) => rule[name] !== undefined);
  if (given.length > 1) throw badRequest(`Only one of these fields can be set: ${given.join(', ')}`);
}

const ours = new Set(['content-length', 'transfer-encoding', 'connection']);

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw badRequest(`Field "answer.headers" has an invalid header name or value: ${name}`);
    }
    if (ours.has(name.toLowerCase())) throw badRequest(`Field "answer.headers" must not set ${name}`);
  }
}

/** Whether the endpoint still processes the request. If so, its changes persist even if the response is lost. */
export function takesEffect({ answer, reset }: FaultRule): boolean {
  return answer === undefined && reset !== 'before_body' && reset !== 'after_body';
}

/** A short description of the rule's effect, such as `delay 500 ms, answer 429`. */
export function describeRule(rule: FaultRule): string {
  const { delay_ms, answer_delay_ms, answer, reset, truncate, drip } = rule;
  const words = [
    delay_ms === undefined ? [] : `delay ${delay_ms} ms`,
    answer === undefined ? [] : `answer ${answer.status}`,
    answer_delay_ms === undefined ? [] : `answer delayed ${answer_delay_ms} ms`,
    reset === undefined ? [] : `reset ${reset}`,
    truncate === undefined ? [] : `truncated after ${truncate.after_bytes ?? 'half of the'} bytes`,
    drip === undefined ? [] : `drip ${drip.bytes} bytes every ${drip.every_ms} ms`,
  ];
  return words.flat().join(', ');
}
