/** Questions that a function of `reprise/operators` answers as it is: the JSON is that of the command. */
import { type Principal, present, RepriseError } from '@reprise/contracts';
import { costOf } from '@reprise/operators/cost';
import { diffOf } from '@reprise/operators/diff';
import { requestOf } from '@reprise/operators/prompt';
import { rightsAt } from '@reprise/operators/rights';
import { sessionsOf } from '@reprise/operators/sessions';
import { societyOf } from '@reprise/operators/society';
import { storyOf } from '@reprise/operators/story';
import { pendingIn } from '@reprise/operators/waiting';
import { found } from '../ask/found.js';
import {
  AFTER,
  AT,
  CELL,
  COST_BY,
  FRAME,
  LIMIT,
  limit,
  oneOf,
  optional,
  type Parameter,
  TEXT,
} from '../ask/parameters.js';
import { question } from '../ask/question.js';

/** `GET /api/sessions?at`: who is there. */
export const sessions = question({ at: AT }, ({ store, signal }, { at }) => sessionsOf(store, present({ at, signal })));

/** `GET /api/waiting?at&limit&after`: what waits for people. */
export const waiting = question({ at: AT, limit: LIMIT, after: AFTER }, ({ store, path, signal }, given) =>
  pendingIn(store, { world: path, signal, ...present(given) }),
);

/** `GET /api/cost?by&from&to&at&limit&after`: `by` is a list with commas, times are journal milliseconds. */
export const cost = question(
  { by: COST_BY, from: optional(FRAME), to: optional(FRAME), at: AT, limit: LIMIT, after: AFTER },
  ({ store, signal }, given) => costOf(store, { signal, ...present(given) }),
);

/** `GET /api/diff?a&b&cell&limit&after`: what changed between two frames. */
export const diff = question(
  { a: FRAME, b: FRAME, cell: optional(CELL), limit: limit(100), after: AFTER },
  async ({ store, signal, apps }, { a, b, cell, ...page }) =>
    diffOf(store, await apps(), { a, b, ...present({ cell }) }, { signal, ...present(page) }),
);

/** A principal: the operator, a person, or a cell. */
const HOLDER: Parameter<Principal> = {
  read(text, name) {
    const holder = TEXT.read(text, name);
    if (holder === 'operator' || /^(?:human|agent|system|app):./.test(holder)) return holder as Principal;
    if (holder.startsWith('cell:')) {
      CELL.read(holder.slice('cell:'.length), name);
      return holder as Principal;
    }
    throw new RepriseError('invalid_argument', 'the holder is not one', {
      ...{ where: name, expected: 'operator, human:<id>, or cell:<address>', actual: holder },
    });
  },
};

/** `GET /api/rights?holder&at`: what a holder may do. */
export const rights = question({ holder: HOLDER, at: AT }, async ({ store, signal, apps }, { holder, at }) =>
  rightsAt(store, await apps(), holder, present({ at, signal })),
);

/** `GET /api/society?at`: who is in the society. */
export const society = question({ at: AT }, async ({ store, signal, apps }, { at }) =>
  societyOf(store, await apps(), present({ at, signal })),
);

const CALL: Parameter<string> = {
  read(text, name) {
    const call = TEXT.read(text, name);
    if (/^(?:last|\d{1,15}(?:\.\d{1,15})?|(?:sha256:)?[0-9a-f]{8,64})$/.test(call)) return call;
    throw new RepriseError('invalid_argument', 'the model call is not named in this way', {
      ...{ where: name, expected: '`last`, a place such as 24.6, or 8 digits of its effect or more', actual: call },
    });
  },
};

/** `GET /api/prompt?call&as`: `call` is `last`, a place, or digits of the effect; `as=sent` asks for the body too. */
export const prompt = question({ call: CALL, as: optional(oneOf('sent')) }, ({ store, signal }, { call, as }) =>
  found(requestOf(store, call, { sent: as === 'sent', signal })),
);

/** `GET /api/story?session&at&before&limit`: what happened, in words. */
export const story = question(
  { session: optional(TEXT), at: AT, before: optional(TEXT), limit: LIMIT },
  ({ store, signal }, given) => storyOf(store, { signal, ...present(given) }),
);
