/** `GET /api/story?session&at&before&limit`: what happened, in words. */
import { present } from '@reprise/contracts';
import { storyOf } from '@reprise/operators/story';
import { AT, LIMIT, optional, TEXT } from '../ask/parameters.js';
import { question } from '../ask/question.js';
import type { StoryReport } from '../contract/index.js';

export const story = question(
  { session: optional(TEXT), at: AT, before: optional(TEXT), limit: LIMIT },
  ({ store, signal }, given): Promise<StoryReport> => storyOf(store, { signal, ...present(given) }),
);
