/** The published description of sessions over HTTP. */

import { checker } from '@reprise/kernel/json-schema';
import { Validator } from '@seriousme/openapi-schema-validator';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openApi } from '../../src/api/openapi.js';
import { ROUTES } from '../../src/api/routes.js';
import { commandBody, decisionBody, inputBody } from '../../src/api/shapes.js';
import { servedSessions } from './world.js';

const SEED = Number(process.env.REPRISE_SEED ?? 45);
const RUNS = 1_000;

const text = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom('', 'x'.repeat(129)) },
  { weight: 12, arbitrary: fc.string({ minLength: 1, maxLength: 4 }) },
);
const odd = fc.oneof(fc.constant(null), fc.integer(), fc.boolean(), text, fc.constant([]), fc.constant({}));
const orOdd = (fitting: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 16, arbitrary: fitting }, { weight: 1, arbitrary: odd });
const part = fc.oneof(
  fc.record({ text: orOdd(text) }),
  fc.record({ base64: orOdd(text), media_type: orOdd(text), name: orOdd(text) }, { requiredKeys: ['base64'] }),
);

/** Bodies that fit, and bodies that nearly do. */
const BODIES = {
  sendInput: fc.record(
    {
      id: orOdd(text),
      text: orOdd(text),
      parts: orOdd(fc.array(part, { maxLength: 17 })),
      as: orOdd(fc.constantFrom('input', 'steer', 'follow_up')),
      agent: orOdd(text),
      labels: orOdd(fc.dictionary(fc.constantFrom('a', 'b', 'k'.repeat(65)), orOdd(text))),
      priority: orOdd(fc.integer({ min: -1_100, max: 1_100 })),
    },
    { requiredKeys: ['id'] },
  ),
  sendCommand: fc.record(
    {
      type: orOdd(fc.constantFrom('cancel', 'pause', 'resume', 'retry', 'withdraw', 'compact', 'close')),
      id: orOdd(text),
      scope: orOdd(fc.constantFrom('turn', 'run', 'all')),
      reason: orOdd(text),
      input: orOdd(text),
    },
    { requiredKeys: ['type', 'id'] },
  ),
  decide: fc.record(
    {
      id: orOdd(text),
      digest: orOdd(text),
      approve: orOdd(fc.constantFrom(true, false)),
      args: odd,
      deny: orOdd(text),
      answer: odd,
      remember: orOdd(fc.constantFrom(true, { for: '1d' })),
    },
    { requiredKeys: [] },
  ),
};
const SCHEMAS = { sendInput: inputBody, sendCommand: commandBody, decide: decisionBody };

type Described = Readonly<
  Record<
    string,
    Readonly<
      Record<
        string,
        {
          readonly operationId: string;
          readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> };
        }
      >
    >
  >
>;

describe('the description of sessions over HTTP', () => {
  it('the description is valid OpenAPI 3.1 and lists every operation once', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(openApi()) as never);
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    const listed = Object.values(openApi().paths as Described).flatMap((one) =>
      Object.values(one).map(({ operationId }) => operationId),
    );
    expect(listed.toSorted()).toEqual(ROUTES.map(({ name }) => name).toSorted());
  });

  it.each(Object.keys(BODIES) as (keyof typeof BODIES)[])(
    `a body of %s fits the description where the server takes it, and nowhere else (seed ${SEED}) [SRV-37]`,
    (name) => {
      const operations = Object.values(openApi().paths as Described).flatMap((one) => Object.values(one));
      const told = operations.find(({ operationId }) => operationId === name)?.requestBody?.content['application/json']
        ?.schema;
      const described = checker(told);
      if (!described.ok) throw new Error(described.why);
      let fitting = 0;
      void fc.assert(
        fc.property(BODIES[name] as fc.Arbitrary<object>, (body) => {
          const isTaken = SCHEMAS[name].safeParse(body).success;
          if (isTaken) fitting += 1;
          expect([JSON.stringify(body), described.check(body as never).ok]).toEqual([JSON.stringify(body), isTaken]);
        }),
        { seed: SEED, numRuns: RUNS },
      );
      expect(fitting).toBeGreaterThan(10);
    },
  );

  it('a client reads the description where it says that it is', async () => {
    await using served = await servedSessions();
    const token = await served.tokens.issue('human:ann', { for: '1h' });
    const answer = await fetch(`${served.url}/openapi.json`, { headers: { authorization: `Bearer ${token}` } });
    expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(openApi())));
  });
});
