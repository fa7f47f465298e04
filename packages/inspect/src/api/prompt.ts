/** `GET /api/prompt?call&as`: what a model call sent. `call` is `last`, a place, or digits of the effect; `as=sent` asks for the body too. */
import { RepriseError } from '@reprise/contracts';
import { requestOf } from '@reprise/operators/prompt';
import { found } from '../ask/found.js';
import { oneOf, optional, type Parameter, TEXT } from '../ask/parameters.js';
import { question } from '../ask/question.js';
import type { RequestReport } from '../contract/index.js';

const CALL: Parameter<string> = {
  read(text, name) {
    const call = TEXT.read(text, name);
    if (/^(?:last|\d{1,15}(?:\.\d{1,15})?|(?:sha256:)?[0-9a-f]{8,64})$/.test(call)) return call;
    throw new RepriseError('invalid_argument', 'the model call is not named in this way', {
      ...{ where: name, expected: '`last`, a place such as 24.6, or 8 digits of its effect or more', actual: call },
    });
  },
};

export const prompt = question(
  { call: CALL, as: optional(oneOf('sent')) },
  ({ store, signal }, { call, as }): Promise<RequestReport> =>
    found(requestOf(store, call, { sent: as === 'sent', signal })),
);
